//! Files that come with a request: on disk for as long as their run needs them.

mod parts;

use std::borrow::Cow;
use std::io::Write as _;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::{StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ordain_cell::InputFile;
use ordain_types::format_bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::answer;
use super::body;
use super::caller::{Caller, May, Run};
use super::frame::Context;
use super::live::LiveRun;
use super::problem::Problem;
use super::service::Service;
use super::uploads;
use parts::ShortHeaders;

/// A route that takes files, as JSON or as parts of a form.
macro_rules! route_with_files {
    (
        $(#[$doc:meta])* route $path:tt, $name:tt, $new:ident, $form:ident,
        known: $known:literal, needed: $needed:ident, texts: [$($text:ident),*], flags: [$($flag:ident),*]
    ) => {
        impl WithFiles for $new {
            const NEEDED: &'static str = stringify!($needed);
            const KNOWN: &'static str = $known;

            fn take_files(&mut self) -> Vec<NewFile> {
                std::mem::take(&mut self.files)
            }

            fn set(&mut self, part: &str, text: String) -> Result<bool, Problem> {
                match part {
                    stringify!($needed) => self.$needed = text,
                    $(stringify!($text) => self.$text = Some(text),)*
                    $(stringify!($flag) => self.$flag = crate::http::files::flag(part, &text)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        /// The same as parts of a form.
        type $form = Form<$new>;

        $(#[$doc])*
        #[utoipa::path(
            post,
            path = $path,
            tag = $name,
            operation_id = $name,
            params(RunHeaders),
            request_body(content(($new = "application/json"), ($form = "multipart/form-data"))),
            responses(RunAnswers)
        )]
        pub(crate) async fn create(posted: Posted<$new>) -> Result<Response, Problem> {
            posted.carry_out().await
        }
    };
}
pub(crate) use route_with_files;

/// The largest body with files.
pub(crate) const UPLOAD_BYTES_MAX: usize = 64 << 20;
/// Files with one request.
const FILES_MAX: usize = 50;
/// The largest part of a form that is not a file.
const TEXT_BYTES_MAX: usize = 2 << 20;

/// A file, given with the code.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFile {
    /// The name under which the code sees it.
    #[schema(example = "sales.csv")]
    pub(crate) name: String,
    /// Its content, in base64.
    #[serde(default)]
    #[schema(example = "aXRlbSxxdHkKY2xhc3NpYywzCg==")]
    pub(crate) content_base64: Option<String>,
    /// Its content, where it is text. One of the two is given.
    #[serde(default)]
    pub(crate) text: Option<String>,
}

impl NewFile {
    fn content(&self, place: usize) -> Result<Cow<'_, [u8]>, Problem> {
        match (&self.content_base64, &self.text) {
            (Some(coded), None) => STANDARD.decode(coded.as_bytes()).map(Cow::Owned).map_err(|error| {
                let pointer = format!("/files/{place}/content_base64");
                Problem::unprocessable("bad_file", &pointer, format!("it is not base64: {error}"))
            }),
            (None, Some(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            _ => {
                let message = "a file has either `content_base64` or `text`";
                Err(Problem::unprocessable("bad_file", &format!("/files/{place}"), message))
            }
        }
    }
}

/// A body that comes as JSON or as the parts of a form, with files.
pub(crate) trait WithFiles: DeserializeOwned + Default {
    /// The part that a form must have.
    const NEEDED: &'static str;
    /// The parts that a form may have, for hints.
    const KNOWN: &'static str;

    /// Takes the files that came with JSON.
    fn take_files(&mut self) -> Vec<NewFile>;

    /// Takes a part of a form; `false` if it is not known.
    fn set(&mut self, part: &str, text: String) -> Result<bool, Problem>;
}

/// Work that comes with files.
pub(crate) trait Work: WithFiles + Send {
    /// Begins to carry it out, under an idempotency key if there is one, over a protocol.
    fn begin(
        self,
        service: &Service,
        caller: &Caller,
        uploads: Uploads,
        claim_and_protocol: (Option<String>, &str),
    ) -> impl Future<Output = Result<Arc<LiveRun>, Problem>> + Send;
}

/// Work that a caller sent with files, and may have carried out.
pub(crate) struct Posted<T> {
    service: Service,
    caller: Caller,
    context: Context,
    request: Request,
    work: PhantomData<T>,
}

impl<T: Work> FromRequest<Service> for Posted<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Service) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = May::<Run>::from_request_parts(&mut parts, service).await?.caller;
        let context = parts.extensions.get::<Context>().cloned().unwrap_or_default();
        let request = Request::from_parts(parts, body);
        Ok(Self { service: service.clone(), caller, context, request, work: PhantomData })
    }
}

impl<T: Work> Posted<T> {
    /// Reads it, begins it, and answers with its run.
    pub(crate) async fn carry_out(self) -> Result<Response, Problem> {
        let Self { service, caller, context, request, .. } = self;
        service.must_take_code()?;
        let headers = request.headers().clone();
        let (new, uploads) = read::<T>(request, &service).await?;
        let claim = answer::idempotency_key(&headers, &caller.id)?;
        let run = new.begin(&service, &caller, uploads, (claim, "http")).await?;
        answer::of_run(run, &context, &headers).await
    }
}

/// The description of a body as the parts of a form: any of its settings by name, and any number of files as `file`.
pub(crate) struct Form<T>(PhantomData<T>);

impl<T: ToSchema> PartialSchema for Form<T> {
    fn schema() -> RefOr<Schema> {
        let mut schema = T::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            let file =
                ObjectBuilder::new().schema_type(Type::String).content_media_type("application/octet-stream");
            let files = ArrayBuilder::new().items(file).description(Some("The files."));
            object.properties.remove("files");
            object.properties.insert("file".to_owned(), files.into());
            object.description = Some("The same as parts of a form, with files as they are.".to_owned());
        }
        schema
    }
}

impl<T: ToSchema> ToSchema for Form<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Form", T::name()).into()
    }
}

/// A part of a form that is true or false.
pub(crate) fn flag(part: &str, text: &str) -> Result<bool, Problem> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::unprocessable("bad_body", &format!("/{part}"), "write `true` or `false`")),
    }
}

/// The files of one request. Dropping it removes them.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    folder: Option<TempDir>,
    /// Names that callers gave, and where the content is. The names never become paths.
    files: Vec<(String, PathBuf)>,
}

impl Uploads {
    /// The files as a job takes them.
    pub(crate) fn input_files(&self) -> Vec<InputFile> {
        let file = |(name, path): &(String, PathBuf)| InputFile { name: name.clone(), path: path.clone() };
        self.files.iter().map(file).collect()
    }

    /// The files under their own names, each in a folder of its own.
    pub(crate) fn named(&self) -> Result<Vec<PathBuf>, Problem> {
        let place = |(name, path): &(String, PathBuf)| {
            if !is_plain(name) {
                return Err(Problem::unprocessable("bad_file", "/files", "a file needs a plain name"));
            }
            let folder = path.with_extension("folder");
            fs_err::create_dir(&folder).map_err(not_kept)?;
            let named = folder.join(name);
            fs_err::rename(path, &named).map_err(not_kept)?;
            Ok(named)
        };
        self.files.iter().map(place).collect()
    }

    fn create(&mut self, name: String) -> Result<fs_err::File, Problem> {
        if self.files.len() >= FILES_MAX {
            let message = format!("at most {FILES_MAX} files come with one request");
            return Err(Problem::unprocessable("too_many_files", "/files", message));
        }
        let failed =
            |error: std::io::Error| Problem::internal(format!("an upload could not be kept: {error}"));
        if self.folder.is_none() {
            self.folder = Some(tempfile::tempdir().map_err(failed)?);
        }
        let root = self.folder.as_ref().map_or(std::path::Path::new("."), TempDir::path);
        let path = root.join(self.files.len().to_string());
        let file = fs_err::File::create_new(&path).map_err(failed)?;
        self.files.push((name, path));
        Ok(file)
    }
}

/// Whether a name can be the name of a file, and nothing else.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= 255 && !name.contains(['/', '\\', '\0']) && name != "." && name != ".."
}

/// Reads a body and its files, from JSON or from the parts of a form.
pub(crate) async fn read<T: WithFiles>(request: Request, service: &Service) -> Result<(T, Uploads), Problem> {
    match body::media_type(request.headers()).as_str() {
        "application/json" => from_json(request, service).await,
        "multipart/form-data" => from_form(request, service).await,
        _ => Err(body::wrong_media_type("application/json` or `multipart/form-data")),
    }
}

async fn from_json<T: WithFiles>(request: Request, service: &Service) -> Result<(T, Uploads), Problem> {
    let bytes = body::read(request.into_body(), UPLOAD_BYTES_MAX, service).await?;
    let mut new: T = body::parse(&bytes)?;
    let uploads = keep(&mut new, service)?;
    Ok((new, uploads))
}

/// Puts the files that came with JSON on disk.
pub(crate) fn keep<T: WithFiles>(new: &mut T, service: &Service) -> Result<Uploads, Problem> {
    let mut uploads = Uploads::default();
    for (place, file) in new.take_files().into_iter().enumerate() {
        let content = file.content(place)?;
        check_size(content.len(), &file.name, service)?;
        let mut target = uploads.create(file.name.clone())?;
        target.write_all(&content).map_err(not_kept)?;
    }
    Ok(uploads)
}

async fn from_form<T: WithFiles>(request: Request, service: &Service) -> Result<(T, Uploads), Problem> {
    let time = service.inner.options.body_time;
    let form = Multipart::from_request(with_short_headers(request), service).await.map_err(|error| {
        let detail = format!("the form is not understood: {}", error.body_text());
        Problem::new(StatusCode::BAD_REQUEST, "bad_form", detail)
    })?;
    let read = tokio::time::timeout(time, read_form(form, service)).await;
    read.map_err(|_elapsed| body::too_slow(time))?
}

/// The same request, whose parts may not have long headers.
fn with_short_headers(request: Request) -> Request {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let boundary = kind.split(';').find_map(|part| part.trim().strip_prefix("boundary="));
    let boundary = boundary.unwrap_or_default().trim_matches('"').to_owned();
    request.map(|body| Body::new(ShortHeaders::new(body, &boundary)))
}

async fn read_form<T: WithFiles>(mut form: Multipart, service: &Service) -> Result<(T, Uploads), Problem> {
    let (mut new, mut uploads, mut has_needed) = (T::default(), Uploads::default(), false);
    while let Some(field) = form.next_field().await.map_err(bad_form)? {
        let name = field.name().unwrap_or_default().to_owned();
        if matches!(name.as_str(), "file" | "files" | "files[]") {
            // What a browser sends for a field in which no file was chosen.
            if field.file_name() == Some("") {
                continue;
            }
            save(field, &mut uploads, service).await?;
        } else if new.set(&name, text(field).await?)? {
            has_needed |= name == T::NEEDED;
        } else {
            let message = "the form has a part that is not known here";
            let hint = format!("known are file, {}", T::KNOWN);
            return Err(Problem::unprocessable("bad_body", "/", message).hint(hint));
        }
    }
    if !has_needed {
        let message = format!("the form has no part `{}`", T::NEEDED);
        return Err(Problem::unprocessable("bad_body", &format!("/{}", T::NEEDED), message));
    }
    Ok((new, uploads))
}

async fn save(mut field: Field<'_>, uploads: &mut Uploads, service: &Service) -> Result<(), Problem> {
    let Some(name) = field.file_name().map(str::to_owned) else {
        return Err(Problem::unprocessable("bad_file", "/file", "a file needs a file name"));
    };
    let mut target = uploads.create(name.clone())?;
    let mut size = 0;
    while let Some(piece) = field.chunk().await.map_err(bad_form)? {
        size += piece.len();
        check_size(size, &name, service)?;
        target.write_all(&piece).map_err(not_kept)?;
    }
    Ok(())
}

async fn text(mut field: Field<'_>) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(bad_form)? {
        if bytes.len() + piece.len() > TEXT_BYTES_MAX {
            return Err(body::too_large(TEXT_BYTES_MAX));
        }
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8(bytes)
        .map_err(|_| Problem::unprocessable("bad_body", "/", "a part of the form is not UTF-8 text"))
}

fn check_size(size: usize, name: &str, service: &Service) -> Result<(), Problem> {
    let most = service.engine().settings().limits.file_bytes;
    if size as u64 > most {
        let name = super::requests::shortened(name);
        let detail = format!("the file `{name}` is larger than {}", format_bytes(most));
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "file_too_large", detail));
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "it is used where an error is mapped")]
fn bad_form(error: MultipartError) -> Problem {
    if let Some(problem) = uploads::problem(&error) {
        return problem;
    }
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return body::too_large(UPLOAD_BYTES_MAX);
    }
    let detail = format!("the form is not understood: {}", error.body_text());
    Problem::new(StatusCode::BAD_REQUEST, "bad_form", detail)
}

#[expect(clippy::needless_pass_by_value, reason = "it is used where an error is mapped")]
fn not_kept(error: std::io::Error) -> Problem {
    Problem::internal(format!("an upload could not be kept: {error}"))
}
