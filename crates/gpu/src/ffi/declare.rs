/// Declares foreign functions that return a [`Status`](crate::Status), for this crate and for the
/// jobs' own launchers. In a crate built without its feature `cuda` there is no C++ to link: the
/// functions are then Rust's and answer [`NOT_BUILT_IN`](crate::ffi::NOT_BUILT_IN), so that nothing
/// else needs to know. They are never called there, since no device can be opened.
///
/// The crate that uses it must have a feature `cuda`.
#[macro_export]
macro_rules! foreign {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $T:ty),* $(,)?);)*) => {
        #[cfg(feature = "cuda")]
        #[allow(improper_ctypes, reason = "u128 has the layout of unsigned __int128")]
        unsafe extern "C" {
            $($(#[$meta])* pub(crate) fn $name($($arg: $T),*) -> $crate::Status;)*
        }
        $(
            #[cfg(not(feature = "cuda"))]
            #[allow(clippy::too_many_arguments, reason = "as the C++ has it")]
            #[allow(improper_ctypes_definitions, reason = "nobody but Rust calls it")]
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($arg: $T),*) -> $crate::Status {
                $(let _ = $arg;)*
                $crate::ffi::NOT_BUILT_IN
            }
        )*
    };
}
