//! Structures shared by Rust and C++: each is listed once, in Rust, and its layout is asserted when
//! either side is compiled.

/// The offset, size and alignment in bytes of a field of a structure.
pub type Field = [usize; 3];

/// Returns whether fields have C's layout: each is at the first aligned offset after the previous one, and the
/// total size is a multiple of the largest alignment.
pub const fn is_as_in_c(fields: &[Field], size: usize) -> bool {
    let (mut end, mut largest, mut i) = (0usize, 1, 0);
    while i < fields.len() {
        let [offset, bytes, align] = fields[i];
        if offset != end.next_multiple_of(align) {
            return false;
        }
        end = offset + bytes;
        if align > largest {
            largest = align;
        }
        i += 1;
    }
    size == end.next_multiple_of(largest)
}

/// Declares structures that kernels take as arguments, each with the name of its C++ counterpart.
///
/// Rust's offsets are checked against C's rules when the crate is compiled. The build script passes the
/// file to `merganser_gpu_build::Kernels::shared`, which generates a header of assertions from it, so that C++
/// with other fields, another order or other sizes does not compile. In the list a field is
/// `name: type,` on a line of its own, and its type is a number, a `bool`, a pointer, an array of these,
/// or another listed structure.
///
/// ```
/// merganser_gpu::shared! {
///     /// The arguments of a kernel.
///     pub struct Arguments = "mgpu::arguments" {
///         pub letters: *const u8,
///         pub count: u32,
///     }
/// }
/// assert_eq!(size_of::<Arguments>(), 16);
/// ```
#[macro_export]
macro_rules! shared {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident = $cpp:literal {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $T:ty,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $T,)*
        }

        const _: () = assert!($crate::layout::is_as_in_c(
            &[$([
                ::std::mem::offset_of!($name, $field), size_of::<$T>(), align_of::<$T>(),
            ],)*],
            size_of::<$name>(),
        ));
    )*};
}

#[cfg(test)]
mod tests {
    use super::is_as_in_c;

    #[test]
    fn c_pads_to_the_alignment_of_each_field_and_of_all() {
        assert!(is_as_in_c(&[], 0));
        assert!(is_as_in_c(&[[0, 4, 4], [8, 8, 8], [16, 1, 1]], 24));
        assert!(!is_as_in_c(&[[0, 4, 4], [4, 8, 8]], 16), "the second is not aligned");
        assert!(!is_as_in_c(&[[8, 8, 8], [0, 4, 4]], 16), "they are in another order");
        assert!(!is_as_in_c(&[[0, 8, 8], [8, 1, 1]], 9), "the end is not padded");
    }
}
