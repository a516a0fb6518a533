//! Fits the values of the model by least squares (Levenberg-Marquardt).

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::patterns::Patterns;

/// A list of the values, peaks or patterns of a model, with a fixed capacity, so that fits need no allocation.
pub(super) type Few = ArrayVec<f64, MAX>;
/// The capacity: five values and a rate for each of ten patterns; no ploidy has more.
const MAX: usize = 15;

/// The model without its values: k, ploidy and patterns.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) k: usize,
    pub(super) ploidy: u32,
    pub(super) patterns: Arc<Patterns>,
}

/// A model with values.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) shape: Shape,
    /// The free parameters: logarithms of coverage, bias and length; log-odds of the shared bias, of duplication
    /// and of the rates. Each can be any number.
    free: Few,
    /// The sum of squared differences.
    pub(super) residual: f64,
    /// The first and the last count to which it was fitted.
    pub(super) range: (usize, usize),
}

/// The values of a model, at the start or the end of a fit.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// The mean count of a k-mer that one haplotype has once.
    pub(super) coverage: f64,
    /// The overdispersion of the first peak: variance over mean, less 1.
    pub(super) bias: f64,
    /// The exponent, 0 to 1, with which the bias grows with the number of haplotypes: see [`Fit::bias`].
    pub(super) shared_bias: f64,
    /// The number of bases of a haplotype, counting duplicated ones once.
    pub(super) length: f64,
    /// The fraction of it that is duplicated.
    pub(super) duplication: f64,
    /// The rate of each pattern of haplotypes.
    pub(super) rates: Few,
}

/// The indexes of the free parameters that are not rates, and of the first rate.
pub(super) const COVERAGE: usize = 0;
pub(super) const BIAS: usize = 1;
pub(super) const SHARED_BIAS: usize = 2;
pub(super) const LENGTH: usize = 3;
pub(super) const DUPLICATION: usize = 4;
pub(super) const OTHERS: usize = 5;

/// The largest number of steps.
const STEPS: usize = 300;
/// A fit ends when a step reduces the sum of squares by less than this fraction.
const MIN_GAIN: f64 = 1e-10;

impl Shape {
    /// Creates the model of a ploidy from 1 to 6 with one of its topologies.
    pub(super) fn new(k: usize, ploidy: u32, topology: u32) -> Shape {
        Shape { k, ploidy, patterns: Arc::new(Patterns::new(ploidy, topology)) }
    }

    /// Returns the best values found from `start`, or `None` if the fit diverges.
    pub(super) fn fit(
        &self,
        observed: &[f64],
        from: usize,
        to: usize,
        start: &Values,
    ) -> Option<Fit> {
        let mut fit = Fit { range: (from, to), ..Fit::of(self, start) };
        let observed = &observed[from..=to];
        fit.residual = squares(observed, &fit.expected(from, to));
        let mut damping = 1e-3;
        let (mut normal, mut gradient) = fit.normal(observed, from, to);
        for _ in 0..STEPS {
            let mut damped = normal.clone();
            for (at, row) in damped.iter_mut().enumerate() {
                row[at] += damping * row[at].max(1e-12);
            }
            let Some(step) = solve(damped, gradient.clone()) else { break };
            let mut next = fit.clone();
            for (value, step) in next.free.iter_mut().zip(step) {
                *value = (*value + step.clamp(-1.0, 1.0)).clamp(-12.0, 40.0);
            }
            next.residual = squares(observed, &next.expected(from, to));
            if next.residual < fit.residual {
                let gain = (fit.residual - next.residual) / fit.residual;
                fit = next;
                damping = (damping / 5.0).max(1e-12);
                if gain < MIN_GAIN {
                    break;
                }
                (normal, gradient) = fit.normal(observed, from, to);
            } else {
                damping *= 4.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        fit.residual.is_finite().then_some(fit)
    }
}

impl Fit {
    /// Creates a model with these values.
    pub(super) fn of(shape: &Shape, values: &Values) -> Fit {
        let odds = |part: f64| (part.max(1e-6) / (1.0 - part).max(1e-6)).ln();
        let mut free = Few::new();
        free.extend([values.coverage, values.bias].map(f64::ln));
        free.push(odds(values.shared_bias));
        free.push(values.length.ln());
        free.push(odds(values.duplication));
        free.extend(values.rates.iter().map(|rate| odds(*rate)));
        Fit { shape: shape.clone(), free, residual: f64::INFINITY, range: (0, 0) }
    }

    /// Returns the values.
    pub(super) fn values(&self) -> Values {
        let part = |odds: &f64| 1.0 / (1.0 + (-odds).exp());
        Values {
            coverage: self.free[COVERAGE].exp(),
            bias: self.free[BIAS].exp(),
            shared_bias: part(&self.free[SHARED_BIAS]),
            length: self.free[LENGTH].exp(),
            duplication: part(&self.free[DUPLICATION]),
            rates: self.free[OTHERS..].iter().map(part).collect(),
        }
    }

    /// Returns the fit to the whole histogram, given that only a fraction `part` of all occurrences was kept
    /// for this fit.
    pub(super) fn thickened(&self, part: f64) -> Fit {
        let mut whole = self.clone();
        whole.free[COVERAGE] -= part.ln();
        whole.free[BIAS] -= part.ln();
        whole
    }

    /// Returns the heterozygosity: the sum of the rates of all patterns.
    pub(super) fn rate(&self) -> f64 {
        // The empty sum of floating-point numbers is -0.
        self.values().rates.iter().sum::<f64>() + 0.0
    }

    /// Returns the mean count of a k-mer that one haplotype has once.
    pub(super) fn coverage(&self) -> f64 {
        self.free[COVERAGE].exp()
    }

    /// Returns the bias of the peak of k-mers with `times` copies: variance over mean, less 1.
    ///
    /// The coverage of a region, such as one with many G and C, is higher or lower in all haplotypes: then the
    /// copies of a k-mer in the haplotypes vary together, and the bias is proportional to their number (exponent
    /// 1). Where copies vary independently, as by duplicates of the library, each peak has the same bias
    /// (exponent 0). Copies of a duplicated region are elsewhere and vary independently.
    fn bias(&self, times: usize) -> f64 {
        let haplotypes = times.min(self.shape.ploidy as usize) as f64;
        let exponent = 1.0 / (1.0 + (-self.free[SHARED_BIAS]).exp());
        self.free[BIAS].exp() * haplotypes.powf(exponent)
    }

    /// Returns the fraction that is duplicated.
    pub(super) fn duplication(&self) -> f64 {
        self.values().duplication
    }

    /// Returns the fractions of the genome's length in the peaks at one, two, ... times the coverage.
    pub(super) fn peaks(&self) -> Few {
        let values = self.values();
        self.shape.patterns.shares(self.shape.k, values.duplication, &values.rates)
    }

    /// Returns the number of distinct k-mers of each count from `from` to `to`.
    pub(super) fn expected(&self, from: usize, to: usize) -> Vec<f64> {
        self.mixed(&self.shapes_of_peaks(from, to))
    }

    /// Returns the probabilities of the counts in each peak, one peak after the other; they depend only on
    /// coverage, bias and shared bias.
    fn shapes_of_peaks(&self, from: usize, to: usize) -> Vec<f64> {
        let coverage = self.coverage();
        let peaks = self.shape.patterns.peaks();
        let mut shapes = Vec::with_capacity(peaks * (to + 1 - from));
        for times in 1..=peaks {
            let mean = coverage * times as f64;
            shapes.extend(negative_binomials(from, to, mean / self.bias(times), mean));
        }
        shapes
    }

    /// Returns the sum of peaks with these shapes, whose heights follow from the other values.
    fn mixed(&self, shapes: &[f64]) -> Vec<f64> {
        let length = self.free[LENGTH].exp();
        let shares = self.peaks();
        let counts = shapes.len() / shares.len();
        let mut sum = vec![0.0; counts];
        for (peak, share) in shapes.chunks(counts).zip(shares) {
            for (sum, part) in sum.iter_mut().zip(peak) {
                *sum += length * share * part;
            }
        }
        sum
    }

    /// Returns JᵀJ and Jᵀ times the residuals; derivatives are computed by finite differences.
    fn normal(&self, observed: &[f64], from: usize, to: usize) -> (Matrix, Few) {
        const STEP: f64 = 1e-5;
        let shapes = self.shapes_of_peaks(from, to);
        let near = |at: usize, step: f64| {
            let mut near = self.clone();
            near.free[at] += step;
            if at > SHARED_BIAS { near.mixed(&shapes) } else { near.expected(from, to) }
        };
        let slope = |at: usize| -> Vec<f64> {
            let (mut slope, down) = (near(at, STEP), near(at, -STEP));
            slope.iter_mut().zip(&down).for_each(|(up, down)| *up = (*up - down) / (2.0 * STEP));
            slope
        };
        let slopes: Vec<Vec<f64>> = (0..self.free.len()).map(slope).collect();
        let mut left = self.mixed(&shapes);
        left.iter_mut().zip(observed).for_each(|(expected, o)| *expected = o - *expected);
        let product = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        let row = |one: &Vec<f64>| slopes.iter().map(|other| product(one, other)).collect();
        let gradient = slopes.iter().map(|slope| product(slope, &left)).collect();
        (slopes.iter().map(row).collect(), gradient)
    }
}

/// A square matrix with a row for each value.
pub(super) type Matrix = ArrayVec<Few, MAX>;

/// Returns the sum of squared differences.
pub(super) fn squares(observed: &[f64], expected: &[f64]) -> f64 {
    observed.iter().zip(expected).map(|(o, e)| (o - e).powi(2)).sum()
}

/// Solves linear equations by Gaussian elimination with partial pivoting.
pub(super) fn solve(mut matrix: Matrix, mut right: Few) -> Option<Few> {
    let size = right.len();
    for column in 0..size {
        let height = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..size).max_by(|a, b| height(a).total_cmp(&height(b)))?;
        if matrix[pivot][column].abs() < 1e-30 || !matrix[pivot][column].is_finite() {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let above = matrix[column].clone();
        for row in (0..size).filter(|row| *row != column) {
            let factor = matrix[row][column] / above[column];
            for (value, above) in matrix[row].iter_mut().zip(&above) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    Some((0..size).map(|at| right[at] / matrix[at][at]).collect())
}

/// Above this size, a negative binomial equals a Poisson distribution to more digits than differences of
/// logarithms have.
const MAX_SIZE: f64 = 1e7;

/// Returns the probabilities of the counts from `from` to `to` for a negative binomial of this size and mean:
/// the first by the gamma function, each other one from the previous one.
fn negative_binomials(from: usize, to: usize, size: f64, mean: f64) -> impl Iterator<Item = f64> {
    // Logarithms, since the first probability may be too small for a number.
    let mut log = ln_negative_binomial(from as f64, size, mean);
    let next = move |count: f64| match size > MAX_SIZE {
        true => mean / (count + 1.0),
        false => (count + size) * (mean / (size + mean)) / (count + 1.0),
    };
    (from..=to).map(move |count| {
        let probability = log.exp();
        log += next(count as f64).ln();
        probability
    })
}

/// Returns the logarithm of the probability of `x` for a negative binomial of this size and mean.
fn ln_negative_binomial(x: f64, size: f64, mean: f64) -> f64 {
    if size > MAX_SIZE {
        return x * mean.ln() - mean - ln_gamma(x + 1.0);
    }
    ln_gamma(x + size) - ln_gamma(size) - ln_gamma(x + 1.0)
        + size * (size / (size + mean)).ln()
        + x * (mean / (size + mean)).ln()
}

/// Returns ln Γ(x) of positive x to about 13 digits, by Stirling's series for x of 10 and more.
pub(super) fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_is_that_of_factorials() {
        let mut factorial = 1.0f64;
        for n in 1..100 {
            assert!((ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-9, "{n}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-12);
    }

    #[test]
    fn probabilities_sum_to_one() {
        for (size, mean) in [(3.0, 20.0), (1e8, 50.0), (1e6, 30.0)] {
            let sum: f64 = negative_binomials(0, 2000, size, mean).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{size} {mean}: {sum}");
        }
    }
}
