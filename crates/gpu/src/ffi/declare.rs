/// Declares foreign functions that return a [`Status`](crate::Status), for this crate and for the launchers of
/// other crates.
///
/// A crate built without its feature `cuda` has no C++ to link: the functions are then defined in Rust and return
/// [`NOT_BUILT_IN`](crate::ffi::NOT_BUILT_IN), so that no other code depends on the feature. They
/// are never called then, since no device can be opened.
///
/// The crate that uses the macro must have a feature `cuda`.
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
            #[allow(clippy::too_many_arguments, reason = "mirrors the C++ function")]
            #[allow(improper_ctypes_definitions, reason = "called only from Rust")]
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($arg: $T),*) -> $crate::Status {
                $(let _ = $arg;)*
                $crate::ffi::NOT_BUILT_IN
            }
        )*
    };
}
