//! `--device` as data: which processors a run may use. Whether they are there is asked elsewhere.

use std::fmt;
use std::str::FromStr;

/// What was asked for with `--device`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// The GPUs that are there if the input is large enough to pay for starting them, else the CPU.
    #[default]
    Auto,
    /// The CPU alone.
    Cpu,
    /// All GPUs; an error if there are none.
    AllCuda,
    /// These GPUs, by CUDA's numbers, in this order; an error if one is not there. One listed twice
    /// is used as two.
    Cuda(Vec<u32>),
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a device: give auto, cpu, cuda, or GPUs by number, e.g. cuda:0,1")]
pub struct DeviceError {
    /// The text as given.
    pub text: String,
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    /// Reads `auto`, `cpu`, `cuda` or `cuda:0,1`.
    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let malformed = || DeviceError { text: text.to_string() };
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::AllCuda),
            _ => {
                let list = text.strip_prefix("cuda:").ok_or_else(malformed)?;
                let number = |part: &str| {
                    let digits = part.bytes().all(|byte| byte.is_ascii_digit());
                    part.parse().ok().filter(|_| digits).ok_or_else(malformed)
                };
                list.split(',').map(number).collect::<Result<_, _>>().map(DeviceChoice::Cuda)
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    /// As it is given on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::AllCuda => f.write_str("cuda"),
            DeviceChoice::Cuda(ordinals) => {
                let numbers: Vec<_> = ordinals.iter().map(u32::to_string).collect();
                write!(f, "cuda:{}", numbers.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_printed_as_it_was_given() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::AllCuda),
            ("cuda:0", DeviceChoice::Cuda(vec![0])),
            ("cuda:1,0", DeviceChoice::Cuda(vec![1, 0])),
            ("cuda:0,0", DeviceChoice::Cuda(vec![0, 0])),
        ] {
            assert_eq!(text.parse(), Ok(choice.clone()));
            assert_eq!(choice.to_string(), text);
        }
        assert_eq!(DeviceChoice::default(), DeviceChoice::Auto);
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for text in [
            "",
            "gpu",
            "CUDA",
            "cuda:",
            "cuda:0,",
            "cuda:-1",
            "cuda:+1",
            "cuda: 1",
            "cuda:0;1",
            "cuda:4294967296",
        ] {
            let message = text.parse::<DeviceChoice>().unwrap_err().to_string();
            let expected = format!(
                "'{text}' is not a device: give auto, cpu, cuda, or GPUs by number, e.g. cuda:0,1"
            );
            assert_eq!(message, expected);
        }
    }
}
