//! The files that runs left, as resources: `ordain://runs/RUN/artifacts/NAME`.

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ordain_store::RunFilter;
use ordain_types::{Artifact, RunId, RunRecord};
use ordain_ui::text::in_path;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use super::super::artifacts;
use super::super::problem::Problem;
use super::Mcp;

/// Runs whose files are listed; older ones are read by their address.
const RUNS_LISTED: u64 = 50;

impl Mcp {
    /// The files of the newest runs that the caller sees.
    pub(super) async fn files(&self) -> Result<ListResourcesResult, Problem> {
        let runs = self.service.runs_seen_by(&self.caller, RunFilter::newest(RUNS_LISTED)).await?;
        Ok(ListResourcesResult::with_all_items(runs.iter().flat_map(links).collect()))
    }

    /// A file's content, as the run left it.
    pub(super) async fn read_file(&self, address: &str) -> Result<ReadResourceResult, Problem> {
        let missing = || {
            let detail = "there is no such file";
            Problem::new(StatusCode::NOT_FOUND, "unknown_artifact", detail)
                .hint("files are at ordain://runs/RUN/artifacts/NAME; `run` lists those of a run")
        };
        let run = address.strip_prefix("ordain://runs/").and_then(|rest| rest.split('/').next());
        let record = self.service.run_seen_by(&self.caller, run.ok_or_else(missing)?).await?;
        let is_meant = |artifact: &&Artifact| uri(&record.run_id, artifact) == address;
        let artifact = record.outcome.artifacts.iter().find(is_meant).ok_or_else(missing)?;
        let run = record.run_id.as_str();
        let (artifact, bytes) =
            artifacts::content_of(&self.service, &self.caller, run, &artifact.name).await?;
        let contents = match String::from_utf8(bytes) {
            Ok(text) if is_text(&artifact.media_type) => ResourceContents::text(text, address),
            Ok(text) => ResourceContents::blob(STANDARD.encode(text), address),
            Err(other) => ResourceContents::blob(STANDARD.encode(other.as_bytes()), address),
        };
        Ok(ReadResourceResult::new(vec![contents.with_mime_type(&artifact.media_type)]))
    }
}

/// The files of a run, as links.
pub(super) fn links(record: &RunRecord) -> impl Iterator<Item = Resource> {
    record.outcome.artifacts.iter().map(|artifact| {
        let link = Resource::new(uri(&record.run_id, artifact), &artifact.name);
        link.with_mime_type(&artifact.media_type).with_size(artifact.bytes)
    })
}

/// The addresses that files have.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new("ordain://runs/{run}/artifacts/{name}", "artifact");
    ListResourceTemplatesResult::with_all_items(vec![template.with_description("A file that a run left")])
}

fn uri(run: &RunId, artifact: &Artifact) -> String {
    format!("ordain://runs/{run}/artifacts/{}", in_path(&artifact.name))
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || matches!(media_type, "application/json" | "image/svg+xml")
}
