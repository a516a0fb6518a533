//! Least squares by Levenberg and Marquardt, of the five values of the model.

/// Which model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) k: usize,
    pub(super) ploidy: u32,
}

/// The model with values.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) shape: Shape,
    /// Logarithms of coverage, bias and length; log-odds of rate and duplication: any number will
    /// do for each.
    free: [f64; 5],
    /// The sum of squared differences.
    pub(super) residual: f64,
}

/// Steps at most.
const STEPS: usize = 300;

impl Shape {
    /// The best values that are found from `start` on: coverage, bias, length, rate of
    /// heterozygosity, duplication. `None` if there are none.
    pub(super) fn fit(
        self,
        observed: &[f64],
        from: usize,
        to: usize,
        start: [f64; 5],
    ) -> Option<Fit> {
        let mut fit = Fit::of(self, start);
        fit.residual = fit.squares(observed, from, to);
        let mut damping = 1e-3;
        for _ in 0..STEPS {
            let (normal, gradient) = fit.normal(observed, from, to);
            let mut damped = normal;
            for (at, row) in damped.iter_mut().enumerate() {
                row[at] += damping * row[at].max(1e-12);
            }
            let Some(step) = solve(damped, gradient) else { break };
            let mut next = fit.clone();
            for (value, step) in next.free.iter_mut().zip(step) {
                *value = (*value + step.clamp(-1.0, 1.0)).clamp(-12.0, 40.0);
            }
            next.residual = next.squares(observed, from, to);
            if next.residual < fit.residual {
                let gain = (fit.residual - next.residual) / fit.residual;
                fit = next;
                damping = (damping / 5.0).max(1e-12);
                if gain < 1e-10 {
                    break;
                }
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
    /// The model with these values.
    pub(super) fn of(shape: Shape, values: [f64; 5]) -> Fit {
        let odds = |part: f64| (part.max(1e-6) / (1.0 - part).max(1e-6)).ln();
        let [coverage, bias, length, rate, duplication] = values;
        let free = [coverage.ln(), bias.ln(), length.ln(), odds(rate), odds(duplication)];
        Fit { shape, free, residual: f64::INFINITY }
    }

    /// Coverage, bias, length, rate, duplication.
    pub(super) fn values(&self) -> [f64; 5] {
        let part = |odds: f64| 1.0 / (1.0 + (-odds).exp());
        let [coverage, bias, length, rate, duplication] = self.free;
        [coverage.exp(), bias.exp(), length.exp(), part(rate), part(duplication)]
    }

    /// The rate of heterozygosity.
    pub(super) fn rate(&self) -> f64 {
        if self.shape.ploidy == 1 { 0.0 } else { self.values()[3] }
    }

    /// The mean count of a k-mer that one haplotype has once.
    pub(super) fn coverage(&self) -> f64 {
        self.values()[0]
    }

    /// The part that stands twice.
    pub(super) fn duplication(&self) -> f64 {
        self.values()[4]
    }

    /// Parts of the genome's length in the peaks at once to four times the coverage.
    pub(super) fn peaks(&self) -> [f64; 4] {
        let [.., rate, d] = self.values();
        if self.shape.ploidy == 1 {
            return [1.0 - d, d, 0.0, 0.0];
        }
        let same = (1.0 - rate).powi(self.shape.k as i32);
        let other = 1.0 - same;
        [
            2.0 * (1.0 - d) * other + 2.0 * d * other * other + 2.0 * d * same * other,
            (1.0 - d) * same + d * other * other,
            2.0 * d * same * other,
            d * same * same,
        ]
    }

    /// Distinct k-mers that have this count.
    pub(super) fn at(&self, count: f64) -> f64 {
        let [coverage, bias, length, ..] = self.values();
        let peaks = self.peaks();
        let part = |(at, share): (usize, &f64)| {
            let mean = coverage * (at + 1) as f64;
            share * negative_binomial(count, mean / bias, mean)
        };
        length * peaks.iter().enumerate().map(part).sum::<f64>()
    }

    fn squares(&self, observed: &[f64], from: usize, to: usize) -> f64 {
        (from..=to).map(|at| (observed[at] - self.at(at as f64)).powi(2)).sum()
    }

    /// JᵀJ and Jᵀ times the differences; the derivatives are differences themselves.
    fn normal(&self, observed: &[f64], from: usize, to: usize) -> ([[f64; 5]; 5], [f64; 5]) {
        const STEP: f64 = 1e-5;
        let nearby: Vec<(Fit, Fit)> = (0..5)
            .map(|at| {
                let (mut up, mut down) = (self.clone(), self.clone());
                up.free[at] += STEP;
                down.free[at] -= STEP;
                (up, down)
            })
            .collect();
        let (mut normal, mut gradient) = ([[0.0; 5]; 5], [0.0; 5]);
        for (at, value) in observed.iter().enumerate().take(to + 1).skip(from) {
            let count = at as f64;
            let left = value - self.at(count);
            let mut slope = [0.0; 5];
            for (slope, (up, down)) in slope.iter_mut().zip(&nearby) {
                *slope = (up.at(count) - down.at(count)) / (2.0 * STEP);
            }
            for i in 0..5 {
                gradient[i] += slope[i] * left;
                for j in 0..5 {
                    normal[i][j] += slope[i] * slope[j];
                }
            }
        }
        (normal, gradient)
    }
}

/// Gauss's elimination, the largest pivot first.
fn solve(mut matrix: [[f64; 5]; 5], mut right: [f64; 5]) -> Option<[f64; 5]> {
    for column in 0..5 {
        let size = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..5).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if matrix[pivot][column].abs() < 1e-30 || !matrix[pivot][column].is_finite() {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in 0..5 {
            if row != column {
                let factor = matrix[row][column] / matrix[column][column];
                let above = matrix[column];
                for (value, above) in matrix[row].iter_mut().zip(above) {
                    *value -= factor * above;
                }
                right[row] -= factor * right[column];
            }
        }
    }
    let mut solution = [0.0; 5];
    for (at, value) in solution.iter_mut().enumerate() {
        *value = right[at] / matrix[at][at];
    }
    Some(solution)
}

/// The probability of `x` under a negative binomial of this size and mean.
fn negative_binomial(x: f64, size: f64, mean: f64) -> f64 {
    // Beyond this size it is Poisson's, to more digits than the differences of logarithms have.
    if size > 1e7 {
        return (x * mean.ln() - mean - ln_gamma(x + 1.0)).exp();
    }
    let log = ln_gamma(x + size) - ln_gamma(size) - ln_gamma(x + 1.0)
        + size * (size / (size + mean)).ln()
        + x * (mean / (size + mean)).ln();
    log.exp()
}

/// ln Γ(x) of positive x, by Stirling's series from 10 on; to about 13 digits.
fn ln_gamma(mut x: f64) -> f64 {
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
            let sum: f64 = (0..2000).map(|x| negative_binomial(f64::from(x), size, mean)).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{size} {mean}: {sum}");
        }
    }
}
