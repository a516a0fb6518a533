//! Parsers of arguments.

use std::ffi::OsStr;

use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

use super::Limit;

/// Parses a [`Limit`]; an error is the whole message.
#[derive(Clone)]
pub(super) struct LimitParser;

impl TypedValueParser for LimitParser {
    type Value = Limit;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Limit, Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        text.parse().map_err(|wrong| Error::raw(ErrorKind::ValueValidation, format!("{wrong}\n")))
    }
}
