//! A server that has no others.

use std::future::{pending, ready};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use ordain_store::QueuedRun;
use ordain_types::{BoxFuture, RunId};

use super::{Answer, Cluster, Held, Lane, NodeMember, OfferError, Spent, Taken};

/// A server that has no others: it carries out what it accepts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Cluster for Alone {
    fn is_shared(&self) -> bool {
        false
    }

    fn is_connected(&self) -> bool {
        true
    }

    fn node(&self) -> &'static str {
        "alone"
    }

    fn workspace(&self) -> &'static str {
        ""
    }

    fn offer<'a>(&'a self, _run: &'a QueuedRun, _was_begun: bool) -> BoxFuture<'a, Result<(), OfferError>> {
        Box::pin(ready(Ok(())))
    }

    fn has<'a>(&'a self, _run: &'a QueuedRun) -> Answer<'a, bool> {
        Box::pin(ready(Ok(false)))
    }

    fn take(&self, _lane: Lane) -> Answer<'_, Option<Taken>> {
        Box::pin(pending())
    }

    fn tell<'a>(&'a self, _node: &'a str, _run: &'a RunId, _events: Vec<u8>) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }

    fn hear<'a>(&'a self, _run: Option<&'a RunId>) -> Answer<'a, BoxStream<'static, (RunId, Vec<u8>)>> {
        Box::pin(ready(Ok(stream::pending().boxed())))
    }

    fn cancel<'a>(&'a self, _run: &'a RunId) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }

    fn cancelled(&self) -> Answer<'_, BoxStream<'static, RunId>> {
        Box::pin(ready(Ok(stream::pending().boxed())))
    }

    fn spent<'a>(&'a self, _spent: &'a [Spent]) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }

    fn spent_elsewhere(&self) -> Answer<'_, BoxStream<'static, Spent>> {
        Box::pin(ready(Ok(stream::pending().boxed())))
    }

    fn hold<'a>(&'a self, _owner: &'a str, _session: &'a str, _most: usize) -> Answer<'a, Option<Held>> {
        Box::pin(ready(Ok(None)))
    }

    fn holding<'a>(&'a self, _owner: &'a str, _session: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(ready(Ok(None)))
    }

    fn let_go<'a>(&'a self, _owner: &'a str, _session: &'a str) -> Answer<'a, bool> {
        Box::pin(ready(Ok(false)))
    }

    fn say<'a>(&'a self, _member: &'a NodeMember) -> Answer<'a, ()> {
        Box::pin(ready(Ok(())))
    }

    fn is_there<'a>(&'a self, _node: &'a str) -> Answer<'a, bool> {
        Box::pin(ready(Ok(false)))
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn members(&self) -> Answer<'_, Vec<NodeMember>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn ledger_end(&self) -> Answer<'_, (Option<String>, u64)> {
        Box::pin(ready(Ok((None, 0))))
    }

    fn tell_ledger_end(&self, _end: String, _last: u64) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}
