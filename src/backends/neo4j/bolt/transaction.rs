use std::collections::VecDeque;

use super::{
    super::error::{Neo4jError, Result},
    connection::{Reply, Request},
    pool::Lent,
    value::{Map, Value, map},
};

/// What one record holds, in the order of the statement's columns.
pub(in super::super) type Row = Vec<Value>;

/// Cypher and its parameters. The text is always ours: what users wrote goes into parameters.
#[derive(Debug, Clone)]
pub(in super::super) struct Statement {
    text: String,
    parameters: Map,
}

impl Statement {
    pub(in super::super) fn new(text: impl Into<String>, parameters: Map) -> Self {
        Self { text: text.into(), parameters }
    }
}

/// A result that is read as far as it is wanted.
#[derive(Debug)]
pub(in super::super) struct Streamed {
    id: i64,
    rows: VecDeque<Row>,
    more: bool,
}

/// Statements that belong together. Dropped before its end, it closes its connection, and the server rolls it back.
pub(in super::super) struct Transaction {
    lent: Lent,
    /// The `BEGIN` that goes out with the first statement.
    begin: Option<Map>,
}

impl Transaction {
    pub(in super::super) fn new(lent: Lent, begin: Map) -> Self {
        Self { lent, begin: Some(begin) }
    }

    /// Queues the beginning; whether there was one to queue.
    fn queue_begin(&mut self) -> Result<bool> {
        let begin = self.begin.take();
        begin.map_or(Ok(false), |begin| self.lent.connection.queue(Request::Begin, &[begin.into()]).and(Ok(true)))
    }

    fn queue_run(&mut self, statement: Statement) -> Result<()> {
        let Statement { text, parameters } = statement;
        self.lent.connection.queue(Request::Run, &[text.into(), parameters.into(), Map::new().into()])
    }

    fn queue_all(&mut self, statements: Vec<Statement>) -> Result<(bool, usize)> {
        let (begun, count) = (self.queue_begin()?, statements.len());
        for statement in statements {
            self.queue_run(statement)?;
            self.lent.connection.queue(Request::Pull, &[map([("n", Value::Int(-1))]).into()])?;
        }
        Ok((begun, count))
    }

    async fn read_all(&mut self, (begun, count): (bool, usize)) -> Result<Vec<Vec<Row>>> {
        if begun {
            self.lent.connection.success().await?;
        }
        let mut results = Vec::with_capacity(count);
        for _ in 0..count {
            self.lent.connection.success().await?;
            let mut rows = Vec::new();
            while let Reply::Record(row) = self.lent.connection.reply().await? {
                rows.push(row);
            }
            results.push(rows);
        }
        Ok(results)
    }

    /// Runs statements, all sent at once, and gives the rows of each.
    pub(in super::super) async fn run(&mut self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        let queued = self.queue_all(statements)?;
        self.lent.connection.flush().await?;
        self.read_all(queued).await
    }

    /// Runs the last statements and ends, all sent at once.
    async fn end(mut self, statements: Vec<Statement>, end: Request) -> Result<Vec<Vec<Row>>> {
        let queued = self.queue_all(statements)?;
        self.lent.connection.queue(end, &[])?;
        self.lent.connection.flush().await?;
        let results = self.read_all(queued).await?;
        self.lent.connection.success().await?;
        self.lent.give_back();
        Ok(results)
    }

    /// Runs the last statements and makes all that was written last.
    pub(in super::super) async fn commit(self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        self.end(statements, Request::Commit).await
    }

    /// Runs the last statements and undoes all that was written.
    pub(in super::super) async fn roll_back(self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>> {
        self.end(statements, Request::Rollback).await
    }

    /// Begins a result of which at first `count` rows are read.
    pub(in super::super) async fn stream(&mut self, statement: Statement, count: usize) -> Result<Streamed> {
        let begun = self.queue_begin()?;
        self.queue_run(statement)?;
        self.lent.connection.queue(Request::Pull, &[map([("n", count.max(1).into())]).into()])?;
        self.lent.connection.flush().await?;
        if begun {
            self.lent.connection.success().await?;
        }
        let head = self.lent.connection.success().await?;
        let Some(Value::Int(id)) = head.get("qid") else {
            return Err(Neo4jError::Protocol("a result has no number"));
        };
        let mut streamed = Streamed { id: *id, rows: VecDeque::new(), more: true };
        self.fill(&mut streamed).await?;
        Ok(streamed)
    }

    async fn fill(&mut self, streamed: &mut Streamed) -> Result<()> {
        loop {
            match self.lent.connection.reply().await? {
                Reply::Record(row) => streamed.rows.push_back(row),
                Reply::Success(end) => {
                    streamed.more = end.get("has_more") == Some(&Value::Bool(true));
                    return Ok(());
                }
            }
        }
    }

    /// The next row; `count` are fetched when one must be.
    pub(in super::super) async fn next(&mut self, streamed: &mut Streamed, count: usize) -> Result<Option<Row>> {
        while streamed.rows.is_empty() && streamed.more {
            let wanted = map([("n", count.max(1).into()), ("qid", streamed.id.into())]);
            self.lent.connection.queue(Request::Pull, &[wanted.into()])?;
            self.lent.connection.flush().await?;
            self.fill(streamed).await?;
        }
        Ok(streamed.rows.pop_front())
    }

    /// Ends a result, wherever it was.
    pub(in super::super) async fn discard(&mut self, mut streamed: Streamed) -> Result<()> {
        if streamed.more {
            let all = map([("n", Value::Int(-1)), ("qid", streamed.id.into())]);
            self.lent.connection.queue(Request::Discard, &[all.into()])?;
            self.lent.connection.flush().await?;
            self.fill(&mut streamed).await?;
        }
        Ok(())
    }
}
