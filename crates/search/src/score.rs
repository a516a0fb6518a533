//! Scores of the sites of guides.

mod cfd;

use std::io::Write;

use merganser_run::ConfigError;
use merganser_seq::base::is_base;

use crate::letters::put_directed;
use crate::{Config, Error, Hit, Pattern};

merganser_run::named! {
    /// A score of each hit of a guide.
    pub enum Score {
        /// Cutting frequency determination (Doench et al. 2016): the activity of SpCas9 at the site, 0 to 1.
        Cfd = "cfd",
    }
}

impl Score {
    /// Checks that a search finds hits that have the score.
    ///
    /// # Errors
    /// If the options are unsuitable, or a pattern is no guide of SpCas9.
    pub(crate) fn check(self, config: &Config, patterns: &[Pattern]) -> Result<(), Error> {
        let has_pam = config.pam.as_ref().is_some_and(|pam| pam.length() >= 2);
        if !(config.hamming && has_pam) || config.pam_first {
            let problem = "`score` cfd requires `hamming` and a `pam` of two letters or more after \
                           the guide, such as NGG";
            return Err(Error::Config(ConfigError::new(problem)));
        }
        let is_guide = |pattern: &&Pattern| {
            let letters = pattern.letters();
            letters.len() == cfd::LETTERS && letters.iter().all(|&letter| is_base(letter))
        };
        match patterns.iter().find(|pattern| !is_guide(pattern)) {
            None => Ok(()),
            Some(pattern) => Err(Error::Pattern {
                name: pattern.name().to_owned(),
                problem: "the score cfd is defined for guides of 20 letters A, C, G and T: leave \
                          the PAM and other patterns out"
                    .to_owned(),
            }),
        }
    }

    /// Appends the score of a hit with six decimals, or NA if a letter of the site is no base.
    pub(crate) fn put(self, pattern: &Pattern, hit: &Hit, text: &mut Vec<u8>) {
        let mut site = Vec::with_capacity(hit.letters.len());
        put_directed(&hit.letters, hit.reverse, &mut site);
        match cfd::score(pattern.letters(), &site) {
            // Writing to memory never fails.
            Some(score) => drop(write!(text, "{score:.6}")),
            None => text.extend_from_slice(b"NA"),
        }
    }
}
