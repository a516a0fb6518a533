//! Macros that define the error types of jobs.

/// Defines the error type of a job's crate: an enum with the variants that all jobs share and the variants of the
/// crate. It implements [`Fault`](merganser_run::Fault), and [`Cancelled`](merganser_run::Cancelled) converts to
/// it.
///
/// `wraps` lists variants that pass on errors of other crates. `boxes` lists variants whose errors are boxed,
/// convert to the new type and keep their [`FaultKind`](merganser_run::FaultKind). Of the other variants, only
/// `Io`, `Output`, `Config` and `Cancelled` can have a kind other than
/// [`FaultKind::Failed`](merganser_run::FaultKind::Failed).
///
/// ```
/// merganser_io::job_error! {
///     /// An error of this crate.
///     pub enum Error {
///         /// There is nothing to do.
///         #[error("there is nothing to do")]
///         Empty,
///     }
/// }
/// assert_eq!(Error::from(merganser_run::Cancelled).to_string(), "interrupted");
/// ```
#[macro_export]
macro_rules! job_error {
    (
        $(#[$meta:meta])*
        $vis:vis enum $error:ident { $($own:tt)* }
        $(wraps { $($(#[$wrapped_meta:meta])* $wrapped:ident($(#[$from:ident])? $of:ty),)+ })?
        $(boxes { $($(#[$boxed_meta:meta])* $boxed:ident($inner:ty),)+ })?
    ) => {
        $(#[$meta])*
        #[derive(::thiserror::Error)]
        #[non_exhaustive]
        $vis enum $error {
            /// Input, output or temporary storage failed.
            #[error(transparent)]
            Io(#[from] $crate::Error),
            /// A result could not be written; the message names the file.
            #[error(transparent)]
            Output(#[from] ::std::io::Error),
            /// A parameter is out of range, or two parameters cannot be used together.
            #[error(transparent)]
            Config(#[from] ::merganser_run::ConfigError),
            /// The job needs more memory than it has.
            #[error(transparent)]
            Memory(#[from] ::merganser_run::Shortage),
            /// The job needs more GPU memory than it has.
            #[error(transparent)]
            GpuMemory(#[from] ::merganser_run::GpuShortage),
            /// A thread cannot be started.
            #[error(transparent)]
            Start(#[from] ::merganser_run::StartError),
            /// The run was cancelled (Ctrl-C).
            #[error("interrupted")]
            Cancelled,
            $($($(#[$wrapped_meta])* #[error(transparent)] $wrapped($(#[$from])? $of),)+)?
            $($($(#[$boxed_meta])* #[error(transparent)] $boxed(Box<$inner>),)+)?
            $($own)*
        }

        /// The message, so that a `main` that returns the error prints its one line.
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, formatter)
            }
        }

        $($(impl From<$inner> for $error {
            fn from(error: $inner) -> Self {
                Self::$boxed(Box::new(error))
            }
        })+)?

        impl From<::merganser_run::Cancelled> for $error {
            fn from(_: ::merganser_run::Cancelled) -> Self {
                Self::Cancelled
            }
        }

        impl ::merganser_run::Fault for $error {
            fn kind(&self) -> ::merganser_run::FaultKind {
                match self {
                    Self::Io(error) => ::merganser_run::Fault::kind(error),
                    Self::Output(error) => $crate::kind_of(error),
                    Self::Config(error) => ::merganser_run::Fault::kind(error),
                    Self::Cancelled => ::merganser_run::FaultKind::Cancelled,
                    $($(Self::$boxed(error) => ::merganser_run::Fault::kind(&**error),)+)?
                    _ => ::merganser_run::FaultKind::Failed,
                }
            }
        }
    };
}

/// Defines the error type of a crate that reads text files. It extends [`job_error!`](crate::job_error!) with the
/// variants that such crates share. [`TextError`](crate::TextError) converts to it, and `Error::content` returns
/// the error for a file with invalid content.
///
/// ```
/// merganser_io::file_error! {
///     /// An error of this crate.
///     pub enum Error {}
/// }
/// let error = Error::content("a.tsv".as_ref(), "line 1: not two columns");
/// assert_eq!(error.to_string(), "a.tsv: line 1: not two columns");
/// ```
#[macro_export]
macro_rules! file_error {
    (
        $(#[$meta:meta])*
        $vis:vis enum $error:ident { $($own:tt)* }
        $($others:tt)*
    ) => {
        $crate::job_error! {
            $(#[$meta])*
            $vis enum $error {
                /// A file has invalid content.
                #[error("{}: {reason}", path.display())]
                Content {
                    /// The file.
                    path: ::std::path::PathBuf,
                    /// The problem, its location, and the remedy.
                    reason: String,
                },
                /// A file could not be opened, read or mapped.
                #[error("{}: {}", path.display(), $crate::reason(source))]
                File {
                    /// The file.
                    path: ::std::path::PathBuf,
                    /// The error of the system.
                    source: ::std::io::Error,
                },
                /// Inputs are unusable, alone or in combination.
                #[error("{0}")]
                Input(String),
                $($own)*
            }
            $($others)*
        }

        impl From<$crate::TextError> for $error {
            fn from(error: $crate::TextError) -> Self {
                match error {
                    $crate::TextError::Io(error) => Self::Io(error),
                    $crate::TextError::Content { path, reason } => Self::Content { path, reason },
                    $crate::TextError::File { path, source } => Self::File { path, source },
                }
            }
        }

        impl $error {
            /// Returns the error for a file whose content is wrong.
            pub(crate) fn content(path: &::std::path::Path, reason: impl Into<String>) -> Self {
                Self::Content { path: path.to_owned(), reason: reason.into() }
            }
        }
    };
}
