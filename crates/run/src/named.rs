//! Enums of named option values.

/// Defines an enum whose values have names: the same ones on the command line, in Python and in JSON.
///
/// In addition to the enum, the macro defines `ALL`, the values in the order of their definition; `name`;
/// [`Display`](std::fmt::Display); [`FromStr`](std::str::FromStr), whose error lists the names;
/// [`Serialize`](serde::Serialize); and, with the feature `cli`, clap's `ValueEnum`. A text in parentheses
/// after a name is the value's help and its documentation.
///
/// ```
/// merganser_run::named! {
///     /// A strand of DNA.
///     #[derive(Default)]
///     pub enum Strand {
///         /// The given strand.
///         #[default]
///         Forward = "forward",
///         /// Its reverse complement.
///         Reverse = "reverse",
///     }
/// }
/// assert_eq!("reverse".parse(), Ok(Strand::Reverse));
/// assert_eq!(Strand::default().name(), "forward");
/// assert_eq!("up".parse::<Strand>(), Err("'up' is not one of forward, reverse".to_owned()));
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $type:ident {
        $($(#[$value_meta:meta])* $value:ident = $name:literal $(($help:literal))?),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type {
            $($(#[$value_meta])* $(#[doc = $help])? $value),+
        }

        impl $type {
            /// All values, in the order in which help lists them.
            pub const ALL: &'static [$type] = &[$($type::$value),+];

            /// The name of the value on the command line, in Python and in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = ::std::string::String;

            fn from_str(text: &str) -> ::std::result::Result<$type, Self::Err> {
                let named = $type::ALL.iter().find(|value| value.name() == text);
                named.copied().ok_or_else(|| {
                    let names = [$($name),+].join(", ");
                    ::std::format!("'{text}' is not one of {names}")
                })
            }
        }

        impl $crate::options::Serialize for $type {
            fn serialize<S: $crate::options::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        $crate::named_on_the_command_line! { $type { $($value $($help)?),+ } }
    };
}

/// Implements clap's `ValueEnum` for [`named!`].
#[cfg(feature = "cli")]
#[doc(hidden)]
#[macro_export]
macro_rules! named_on_the_command_line {
    ($type:ident { $($value:ident $($help:literal)?),+ }) => {
        impl $crate::options::clap::ValueEnum for $type {
            fn value_variants<'a>() -> &'a [$type] {
                $type::ALL
            }

            fn to_possible_value(
                &self,
            ) -> ::std::option::Option<$crate::options::clap::builder::PossibleValue> {
                let value = $crate::options::clap::builder::PossibleValue::new(self.name());
                ::std::option::Option::Some(match self {
                    $($type::$value => value$(.help($help))?),+
                })
            }
        }
    };
}

#[cfg(not(feature = "cli"))]
#[doc(hidden)]
#[macro_export]
macro_rules! named_on_the_command_line {
    ($($any:tt)*) => {};
}
