//! `--preset`, and the options of mapping with the values of a preset where the command line has none.

use std::ops::Deref;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use merganser_filter::Threshold;
use merganser_map::{Config, Select};

merganser_run::named! {
    /// A set of options.
    pub(crate) enum Preset {
        Variants = "variants"
            ("-e 10% --rescue 20% --best --clip --learn-insert: one hit, for variant callers"),
        All = "all" ("-e 5% --all: every hit"),
        Hla = "hla" ("-e 3% --best-strata --no-unmapped: for OptiType"),
        Hamming = "hamming" ("-e 5% --all --hamming: every hit without gaps"),
    }
}

/// The options that select hits. Without a preset, `-e` and any of these but `--best`, `variants` applies.
const SELECTS: [&str; 3] = ["all", "best", "best_strata"];
/// The options of pairs, with their names.
const OF_PAIRS: [(&str, &str); 5] = [
    ("orientation", "--orientation"),
    ("min_insert", "--min-insert"),
    ("max_insert", "--max-insert"),
    ("learn_insert", "--learn-insert"),
    ("rescue", "--rescue"),
];

#[derive(Args, Debug)]
#[group(skip)]
struct PresetArgs {
    /// Options to start from; options that are given replace those of the preset
    ///
    /// Without it, `variants` applies if neither -e nor one of --all and --best-strata is given.
    #[arg(long, value_name = "NAME", help_heading = "Hits", display_order = 0)]
    preset: Option<Preset>,
}

/// [`Config`], completed by a preset.
#[derive(Clone, Debug)]
pub(crate) struct MapConfig {
    config: Config,
    /// The options of the preset that applies although none is given.
    pub(crate) usual: Option<String>,
    /// The name of an option that requires pairs and is given.
    pub(crate) of_pairs: Option<&'static str>,
}

impl Deref for MapConfig {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.config
    }
}

impl Preset {
    /// Returns the options of the preset.
    pub(crate) fn options(self) -> String {
        let help = self.to_possible_value().and_then(|value| value.get_help().cloned());
        let text = help.map(|help| help.to_string()).unwrap_or_default();
        text.split(": ").next().unwrap_or_default().to_owned()
    }

    /// Sets the options of the preset that are not `given`.
    fn complete(self, config: &mut Config, given: impl Fn(&str) -> bool) {
        let (percent, select) = match self {
            Preset::Variants => (10, Select::Best),
            Preset::All | Preset::Hamming => (5, Select::All),
            Preset::Hla => (3, Select::BestStrata),
        };
        if !given("threshold") {
            config.threshold = Threshold::Percent(percent);
        }
        if !SELECTS.into_iter().any(&given) {
            config.select = select;
        }
        if self == Preset::Variants {
            config.clip = true;
            if !given("rescue") {
                config.rescue = Some(Threshold::Percent(20));
            }
            config.learn_insert = true;
        }
        config.hamming |= self == Preset::Hamming;
        config.no_unmapped |= self == Preset::Hla;
    }
}

impl Args for MapConfig {
    fn augment_args(command: Command) -> Command {
        let command = Config::augment_args(PresetArgs::augment_args(command));
        // The default is that of the usual preset; other presets replace it.
        command.mut_arg("threshold", |threshold| {
            threshold.required(false).default_value("10%").hide_default_value(true)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MapConfig {
    fn from_arg_matches(matches: &ArgMatches) -> Result<MapConfig, clap::Error> {
        let mut config = Config::from_arg_matches(matches)?;
        let PresetArgs { preset } = PresetArgs::from_arg_matches(matches)?;
        let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let asks_for_more = config.select != Select::Best && SELECTS.into_iter().any(given);
        if preset.is_none() && asks_for_more && !given("threshold") {
            let message = "give the maximum number of edits of a hit (-e 5, -e 4%), or a --preset";
            return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, message));
        }
        let is_usual = preset.is_none() && !given("threshold");
        let usual = is_usual.then_some(Preset::Variants);
        if let Some(preset) = preset.or(usual) {
            preset.complete(&mut config, given);
        }
        let usual = usual.map(|preset| match given("rescue") {
            true => preset.options().replace(" --rescue 20%", ""),
            false => preset.options(),
        });
        let of_pairs = OF_PAIRS.into_iter().find(|(id, _)| given(id)).map(|(_, name)| name);
        Ok(MapConfig { config, usual, of_pairs })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = MapConfig::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &str) -> Result<MapConfig, clap::Error> {
        let command = MapConfig::augment_args(Command::new("map").no_binary_name(true));
        MapConfig::from_arg_matches(&command.try_get_matches_from(options.split_whitespace())?)
    }

    #[test]
    fn presets_are_the_options_that_they_name() {
        for preset in Preset::ALL {
            let named = parsed(&format!("--preset {preset}")).unwrap();
            assert_eq!(*named, *parsed(&preset.options()).unwrap(), "{preset}");
            assert!(named.usual.is_none() && named.of_pairs.is_none());
        }
        let usual = parsed("--sort").unwrap();
        assert_eq!(*usual, *parsed("--preset variants --sort").unwrap());
        assert_eq!(usual.usual, Some(Preset::Variants.options()));
        assert_eq!(*parsed("--best --xa 5").unwrap(), *parsed("--xa 5").unwrap());
        let rescued = parsed("--rescue 5%").unwrap();
        assert_eq!(rescued.usual.unwrap(), "-e 10% --best --clip --learn-insert");
    }

    #[test]
    fn given_options_replace_those_of_a_preset() {
        let config = parsed("--preset variants -e 3 --all --rescue 7 --max-insert 500").unwrap();
        assert_eq!(
            *config,
            *parsed("-e 3 --all --rescue 7 --max-insert 500 --learn-insert --clip").unwrap()
        );
        assert_eq!(config.of_pairs, Some("--max-insert"));
        assert_eq!(parsed("-e 4").unwrap().usual, None);
        assert!(parsed("--best-strata").unwrap_err().to_string().contains("-e 5"));
    }
}
