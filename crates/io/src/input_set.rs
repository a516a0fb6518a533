//! Sets of inputs.

/// A set of inputs, identified by the numbers that [`RecordBatch::segment`](crate::RecordBatch::segment) returns.
#[derive(Clone, Debug, Default)]
pub struct InputSet {
    /// Whether each input is in the set; inputs past the end are not.
    are_in: Vec<bool>,
}

impl InputSet {
    /// Adds an input.
    pub fn insert(&mut self, input: usize) {
        self.are_in.resize(self.are_in.len().max(input + 1), false);
        self.are_in[input] = true;
    }

    /// Adds all inputs of another set.
    pub fn merge(&mut self, other: &InputSet) {
        self.are_in.resize(self.are_in.len().max(other.are_in.len()), false);
        self.are_in.iter_mut().zip(&other.are_in).for_each(|(one, other)| *one |= other);
    }

    /// Returns the indexes of the first `inputs` inputs that are not in the set, in ascending order.
    pub fn missing(&self, inputs: usize) -> Vec<usize> {
        (0..inputs).filter(|&input| !self.are_in.get(input).copied().unwrap_or(false)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_merged_and_what_they_lack_is_found() {
        let (mut one, mut other) = (InputSet::default(), InputSet::default());
        assert_eq!(one.missing(2), [0, 1]);
        one.insert(1);
        one.insert(1);
        other.insert(3);
        one.merge(&other);
        other.merge(&one);
        for set in [one, other] {
            assert_eq!((set.missing(3), set.missing(5)), (vec![0, 2], vec![0, 2, 4]));
        }
    }
}
