//! Who writes the plans of a command: what `--model` says, else the workspace.

use std::io::{self, IsTerminal as _, Write};

use ordain_engine::Planner;
use ordain_planner::{Choice, ModelSettings, PlannerError, choose};
use ordain_workspace::Workspace;

use crate::show::line;

/// Who writes plans.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PlannerArgs {
    /// Who writes the plan: `auto`, `rules`, `openai:…`, `anthropic:…`, `gemini:…`, `openrouter:…`, `ollama:…`, or a
    /// model of the workspace's `base_url` [default: the workspace's, else `auto`]
    #[arg(long, value_name = "M")]
    pub(crate) model: Option<String>,
}

impl PlannerArgs {
    /// Chooses, and tells a person who was chosen and why.
    pub(crate) async fn choose(&self, workspace: &Workspace) -> Result<Planner, PlannerError> {
        let choice = self.choice(workspace).await?;
        if io::stderr().is_terminal() {
            let _ = writeln!(
                io::stderr(),
                "planner: {} ({})",
                line(&choice.planner.name()),
                line(&choice.reason)
            );
        }
        Ok(choice.planner)
    }

    /// The workspace's settings, with what the flag says.
    pub(crate) fn settings(&self, workspace: &Workspace) -> ModelSettings {
        let mut settings = workspace.model.clone();
        if let Some(name) = &self.model {
            settings.name.clone_from(name);
        }
        settings
    }

    pub(crate) async fn choice(&self, workspace: &Workspace) -> Result<Choice, PlannerError> {
        choose(&self.settings(workspace), |name| workspace.environment.get(name)).await
    }
}
