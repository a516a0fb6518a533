//! Axes of plots: scales, ticks and their labels.

use super::scene::{Anchor, INK, Shape, Words};

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// A linear scale from 0.
    Linear { most: f64 },
    /// A logarithmic scale; both ends are above 0.
    Log { least: f64, most: f64 },
}

impl Scale {
    pub(crate) fn linear(most: f64) -> Scale {
        Scale::Linear { most: if most > 0.0 { most } else { 1.0 } }
    }

    pub(crate) fn log(least: f64, most: f64) -> Scale {
        let least = if least > 0.0 { least } else { 1.0 };
        Scale::Log { least, most: most.max(10.0 * least) }
    }

    pub(crate) fn most(self) -> f64 {
        match self {
            Scale::Linear { most } | Scale::Log { most, .. } => most,
        }
    }

    /// Returns the relative position of a number on the axis, 0 to 1; numbers beyond an end are at it.
    fn part(self, number: f64) -> f64 {
        let part = match self {
            Scale::Linear { most } => number / most,
            Scale::Log { least, most } => (number.max(least) / least).ln() / (most / least).ln(),
        };
        part.clamp(0.0, 1.0)
    }

    /// Returns round numbers for ticks: five to ten steps, or powers of ten.
    pub(crate) fn ticks(self) -> Vec<f64> {
        match self {
            Scale::Linear { most } => ticks(most).collect(),
            Scale::Log { least, most } => {
                let (from, to) = (least.log10().ceil() as i32, most.log10().floor() as i32);
                // Skip some powers on long axes.
                let step = ((to - from) / 8 + 1).max(1) as usize;
                let powers = (from..=to).step_by(step);
                powers.map(|power| 10f64.powi(power)).collect()
            }
        }
    }
}

/// Returns round numbers from 0 to `most`, in five to ten steps.
fn ticks(most: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf((most / 5.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|times| times * power);
    let step = steps.into_iter().find(|step| most / step >= 5.0).unwrap_or(power);
    (0..=(most / step) as u32).map(move |part| f64::from(part) * step)
}

/// The two axes of a plot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axes {
    /// The left, upper, right and lower side.
    pub(crate) frame: [f64; 4],
    pub(crate) along: Scale,
    pub(crate) up: Scale,
}

impl Axes {
    /// Makes two linear axes from 0 to `most`.
    pub(crate) fn linear(frame: [f64; 4], most: [f64; 2]) -> Axes {
        let [along, up] = most.map(Scale::linear);
        Axes { frame, along, up }
    }

    pub(crate) fn x(&self, number: f64) -> f64 {
        let [left, _, right, _] = self.frame;
        left + (right - left) * self.along.part(number)
    }

    pub(crate) fn y(&self, number: f64) -> f64 {
        let [_, top, _, bottom] = self.frame;
        bottom - (bottom - top) * self.up.part(number)
    }

    pub(crate) fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.x(x), self.y(y)]
    }

    /// Draws both axes as one line.
    pub(crate) fn shape(&self) -> Shape {
        let [left, top, right, bottom] = self.frame;
        Shape::line(vec![[left, top], [left, bottom], [right, bottom]], INK, 1.0)
    }

    /// Returns the labels of the ticks of both axes.
    pub(crate) fn numbers(&self) -> Vec<Words> {
        let mut numbers = self.numbers_along();
        numbers.extend(self.numbers_up());
        numbers
    }

    pub(crate) fn numbers_along(&self) -> Vec<Words> {
        let [_, _, _, bottom] = self.frame;
        let word = |x: f64| Words::new(written(x), [self.x(x), bottom + 18.0], Anchor::Middle);
        thinned(self.along.ticks().into_iter().map(word).collect())
    }

    /// Returns the labels of the ticks of both axes if there is a bar for each whole number along the lower one.
    pub(crate) fn numbers_of_bars(&self) -> Vec<Words> {
        let [_, _, _, bottom] = self.frame;
        let whole = self.along.ticks().into_iter().filter(|x| x.fract() == 0.0);
        let shown = whole.filter(|x| x + 1.0 <= self.along.most());
        let word =
            |x: f64| Words::new(written(x), [self.x(x + 0.5), bottom + 18.0], Anchor::Middle);
        let mut numbers = thinned(shown.map(word).collect());
        numbers.extend(self.numbers_up());
        numbers
    }

    fn numbers_up(&self) -> Vec<Words> {
        let [left, ..] = self.frame;
        let word = |y: f64| Words::new(written(y), [left - 6.0, self.y(y) + 4.0], Anchor::End);
        self.up.ticks().into_iter().map(word).collect()
    }
}

/// Keeps every second label, or fewer, so that none overlaps the next one.
fn thinned(words: Vec<Words>) -> Vec<Words> {
    /// The least distance of two labels.
    const GAP: f64 = 6.0;
    let fits = |step: &usize| {
        let shown: Vec<[f64; 4]> = words.iter().step_by(*step).map(Words::bounds).collect();
        shown.windows(2).all(|two| two[0][2] + GAP <= two[1][0])
    };
    let step = (1..words.len().max(2)).find(fits).unwrap_or(words.len().max(1));
    words.into_iter().step_by(step).collect()
}

/// Formats a number for an axis: whole numbers with commas, large numbers with a unit.
fn written(number: f64) -> String {
    for (unit, letter) in [(1e9, "G"), (1e6, "M")] {
        if number >= 10.0 * unit || number >= unit && number % unit == 0.0 {
            return format!("{}{letter}", number / unit);
        }
    }
    if number.fract().abs() < 1e-9 {
        return thousands(number);
    }
    let text = format!("{number:.6}");
    text.trim_end_matches('0').to_owned()
}

/// Formats a whole number with commas.
pub(crate) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(scale: Scale) -> String {
        scale.ticks().into_iter().map(written).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_and_numbers_are_short() {
        let up_to = |most| numbers(Scale::linear(most));
        assert_eq!(up_to(3.0), "0 0.5 1 1.5 2 2.5 3");
        assert_eq!(up_to(214.0), "0 20 40 60 80 100 120 140 160 180 200");
        assert_eq!(up_to(372_615.0), "0 50,000 100,000 150,000 200,000 250,000 300,000 350,000");
        assert_eq!(up_to(3e7), "0 5M 10M 15M 20M 25M 30M");
        assert_eq!(up_to(0.0), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(numbers(Scale::log(1.0, 50_000.0)), "1 10 100 1,000 10,000");
        assert!(Scale::log(1.0, 1e30).ticks().len() <= 10);
        assert_eq!(thousands(4_936_447.4), "4,936,447");
    }

    #[test]
    fn numbers_lie_between_the_ends() {
        let axes = Axes {
            along: Scale::log(1.0, 100.0),
            ..Axes::linear([0.0, 0.0, 10.0, 10.0], [1.0, 4.0])
        };
        assert_eq!([0.0, 1.0, 10.0, 100.0, 1e9].map(|x| axes.x(x)), [0.0, 0.0, 5.0, 10.0, 10.0]);
        assert_eq!([-1.0, 0.0, 1.0, 4.0, 9.0].map(|y| axes.y(y)), [10.0, 10.0, 7.5, 0.0, 0.0]);
    }
}
