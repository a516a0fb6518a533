//! Structures that Rust and C++ share: each is listed once, in Rust, and its layout is asserted when
//! either side is compiled.

/// A field of a structure: its offset, size and alignment in bytes.
pub type Field = [usize; 3];

/// Whether fields lie as C lays them out: each at the first offset behind the one before that its
/// alignment allows, and the size of all is a multiple of the largest alignment.
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

/// Declares structures that kernels take, each with the name of its twin in C++.
///
/// Rust's offsets are held against C's rules when the crate is compiled. The build script hands the
/// file to `merganser_gpu_build::Kernels::shared`, which makes a header of assertions from it: C++
/// with other fields, in another order or of other sizes, does not compile. There a field is
/// `name: type,` in a line of its own, and its type a number, a `bool`, a pointer, an array of these,
/// or another structure of a list.
///
/// ```
/// merganser_gpu::shared! {
///     /// What a kernel works on.
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
