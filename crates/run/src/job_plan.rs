//! The plan of a job.

/// How a job would run: what it determines before any work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobPlan {
    /// The CUDA numbers of the GPUs that it would use; empty for the CPU.
    pub devices: Vec<u32>,
    /// The least memory that it needs, in bytes; `None` if this depends on the content of the inputs.
    pub memory: Option<u64>,
    /// Other decisions: a sentence each, without a full stop.
    pub notes: Vec<String>,
}

impl JobPlan {
    /// Returns the plan of a job on these GPUs, or on the CPU if the list is empty.
    #[must_use]
    pub fn on(devices: Vec<u32>) -> JobPlan {
        JobPlan { devices, ..JobPlan::default() }
    }

    /// Sets the least memory, in bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> JobPlan {
        self.memory = Some(bytes);
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> JobPlan {
        self.notes.push(note.into());
        self
    }
}
