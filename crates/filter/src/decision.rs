//! The decisions on pairs.

/// The decision on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The pair has at most as many edits as the threshold allows.
    Accepted {
        /// The edit distance with the exact method, an estimate with the others.
        edits: u32,
    },
    /// The pair is accepted because it has ambiguous letters ([`NMode::Pass`](crate::NMode::Pass)).
    Undefined,
    /// The pair has more edits than the threshold allows.
    Rejected,
}

impl Decision {
    /// Whether the pair is accepted; also if it is undefined.
    pub fn is_accepted(self) -> bool {
        self != Decision::Rejected
    }

    /// Returns the number of edits of an accepted pair; `None` if it is rejected or undefined.
    pub fn edits(self) -> Option<u32> {
        match self {
            Decision::Accepted { edits } => Some(edits),
            _ => None,
        }
    }
}

/// A decision as a number, as files and arrays hold it: the number of edits of an accepted pair, or [`REJECTED`], or
/// [`UNDEFINED`].
pub type Code = i32;

/// The code of [`Decision::Rejected`].
pub const REJECTED: Code = -1;

/// The code of [`Decision::Undefined`].
pub const UNDEFINED: Code = -2;

impl From<Code> for Decision {
    fn from(code: Code) -> Decision {
        match u32::try_from(code) {
            Ok(edits) => Decision::Accepted { edits },
            Err(_) if code == UNDEFINED => Decision::Undefined,
            Err(_) => Decision::Rejected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decisions() {
        let all = [3, REJECTED, UNDEFINED].map(Decision::from);
        assert_eq!(all, [Decision::Accepted { edits: 3 }, Decision::Rejected, Decision::Undefined]);
        assert_eq!(all.map(Decision::is_accepted), [true, false, true]);
        assert_eq!(all.map(Decision::edits), [Some(3), None, None]);
    }
}
