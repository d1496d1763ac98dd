//! The steps into the jail, each with a name, so that a refusal says which one the kernel refused.

/// One step into the jail. The number travels in failure reports; the name is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Reading the configuration that the supervisor sent.
    Config = 1,
    /// Opening the host's `/proc`, used to write the identity maps.
    OpenProc,
    /// Making the namespaces of the zygote.
    ZygoteNamespaces,
    /// Leaving the superuser's identity.
    DropSuperuser,
    /// Mapping the user and group of a namespace.
    IdentityMaps,
    /// Cutting mount propagation to the host.
    PrivateMounts,
    /// Mounting the empty root.
    MountRoot,
    /// Changing into the new root.
    PivotRoot,
    /// Binding a part of the host's files into the root.
    Bind,
    /// Making a folder, file or link of the new root.
    Populate,
    /// Letting go of the old root.
    DetachOldRoot,
    /// Making the root read-only.
    SealRoot,
    /// Forbidding privileges gained by exec.
    NoNewPrivileges,
    /// Filtering the zygote's system calls.
    ZygoteFilter,
    /// Receiving an order on the control socket.
    Receive,
    /// Forking a cell with its namespaces.
    CloneCell,
    /// Tying a cell's life to the zygote's.
    DeathSignal,
    /// Mounting a cell's work folder.
    MountWork,
    /// Preparing the folders of a cell's work folder.
    PrepareWork,
    /// Setting a cell's resource limits.
    ResourceLimits,
    /// Placing the descriptors that a cell keeps, and closing all others.
    Descriptors,
    /// Restricting a cell with Landlock.
    Landlock,
    /// Dropping a cell's capabilities.
    Capabilities,
    /// Filtering a cell's system calls.
    CellFilter,
    /// Reporting to the supervisor.
    Report,
}

impl Step {
    const ALL: [(Self, &'static str); 25] = [
        (Self::Config, "read the configuration"),
        (Self::OpenProc, "open /proc"),
        (Self::ZygoteNamespaces, "make the zygote's namespaces"),
        (Self::DropSuperuser, "leave the superuser's identity"),
        (Self::IdentityMaps, "map user and group"),
        (Self::PrivateMounts, "make mounts private"),
        (Self::MountRoot, "mount the empty root"),
        (Self::PivotRoot, "change into the new root"),
        (Self::Bind, "bind host files into the root"),
        (Self::Populate, "populate the root"),
        (Self::DetachOldRoot, "detach the old root"),
        (Self::SealRoot, "make the root read-only"),
        (Self::NoNewPrivileges, "set no_new_privs"),
        (Self::ZygoteFilter, "filter the zygote's system calls"),
        (Self::Receive, "receive an order"),
        (Self::CloneCell, "fork a cell with its namespaces"),
        (Self::DeathSignal, "tie the cell to the zygote"),
        (Self::MountWork, "mount the work folder"),
        (Self::PrepareWork, "prepare the work folder"),
        (Self::ResourceLimits, "set resource limits"),
        (Self::Descriptors, "close descriptors"),
        (Self::Landlock, "restrict with Landlock"),
        (Self::Capabilities, "drop capabilities"),
        (Self::CellFilter, "filter the cell's system calls"),
        (Self::Report, "report to the supervisor"),
    ];

    /// The step of that number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().map(|(step, _)| *step).find(|step| *step as u8 == number)
    }

    /// The step in words.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(step, _)| *step == self).map_or("unknown step", |(_, name)| name)
    }
}

/// A step that failed, with the kernel's error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// What was being done.
    pub step: Step,
    /// What the kernel said.
    pub errno: i32,
}

/// The outcome of a step.
pub type Outcome<T> = Result<T, Failure>;

/// Names the step that a system call belongs to.
pub trait At<T> {
    /// Turns an error number into a [`Failure`] at `step`.
    fn at(self, step: Step) -> Outcome<T>;
}

impl<T> At<T> for Result<T, i32> {
    fn at(self, step: Step) -> Outcome<T> {
        self.map_err(|errno| Failure { step, errno })
    }
}
