/** The tables of checkpoints: one SQLite file in the data folder. What a method has stored is synced when it returns. */
import { Database } from 'bun:sqlite';
import type { CallId, RewoundFiles, TurnId } from '@parlance/protocol';
import type { CheckpointedSession, FileVersion } from '../../core/ports/checkpoints.ts';
import type { State } from './entry.ts';
import type { Manifest, Seen } from './scan.ts';

export type Before = readonly (readonly [path: string, state: State])[];

/** A call that has begun: `manifest` for a whole folder, otherwise the paths. */
export type Pending = {
  readonly id: number;
  readonly turn: TurnId;
  readonly call: CallId;
  readonly seq: number;
  readonly folder: string;
  readonly manifest: number | null;
  readonly before: Before | null;
};

export type Change = {
  readonly id: number;
  readonly folder: string;
  readonly path: string;
  readonly before: State;
  readonly after: State;
  /** why somebody else may have made it; null if nobody else can have */
  readonly doubt: string | null;
};

/** One path of a rewind. */
export type Restoring = {
  readonly path: string;
  /** at the time of the rewind */
  readonly before: State;
  readonly after: State;
  /** the changes that are taken back, or made again */
  readonly changes: readonly number[];
  readonly active: boolean;
  /** why it is kept; null if it is restored */
  readonly kept: string | null;
};

const SCHEMA = `
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS contents (hash TEXT PRIMARY KEY, size INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS manifests (id INTEGER PRIMARY KEY, folder TEXT NOT NULL, body BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS pending (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, session TEXT NOT NULL, created INTEGER NOT NULL,
    turn TEXT NOT NULL, call TEXT NOT NULL, seq INTEGER NOT NULL, folder TEXT NOT NULL, manifest INTEGER, before TEXT
  );
  CREATE TABLE IF NOT EXISTS changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, session TEXT NOT NULL, created INTEGER NOT NULL,
    turn TEXT NOT NULL, call TEXT NOT NULL, seq INTEGER NOT NULL, folder TEXT NOT NULL, path TEXT NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL, doubt TEXT, active INTEGER NOT NULL DEFAULT 1
  );
  CREATE INDEX IF NOT EXISTS changes_session ON changes (owner, session, created, seq);
  CREATE TABLE IF NOT EXISTS rewinds (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, session TEXT NOT NULL, created INTEGER NOT NULL, folder TEXT NOT NULL,
    outcome TEXT
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS restorings (
    rewind TEXT NOT NULL, path TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, changes TEXT NOT NULL,
    active INTEGER NOT NULL, kept TEXT, PRIMARY KEY (rewind, path)
  ) WITHOUT ROWID;
  PRAGMA user_version = 1;
`;

/** Contents in memory before they are written. */
const BATCH_BYTES = 8 * 1024 * 1024;

type Key = readonly [owner: string, session: string, created: number];

const keyOf = ({ owner, id, createdAt }: CheckpointedSession): Key => [owner, id, createdAt];

export class CheckpointDatabase {
  readonly #db: Database;
  readonly #batch = new Map<string, Uint8Array>();
  #batchBytes = 0;
  #bytes: number;

  constructor(path: string) {
    this.#db = new Database(path, { create: true, strict: true });
    this.#db.run(SCHEMA);
    this.#bytes = this.#sum();
  }

  close(): void {
    this.#db.close();
  }

  // Contents, by their hash.

  has(hash: string): boolean {
    return (
      this.#batch.has(hash) || this.#db.query('SELECT 1 FROM contents WHERE hash = ?').get(hash) !== null
    );
  }

  /** Written with the next record, or earlier if there are many. */
  keep(hash: string, bytes: Uint8Array): void {
    if (this.has(hash)) return;
    this.#batch.set(hash, Bun.zstdCompressSync(bytes, { level: 1 }));
    this.#batchBytes += bytes.length;
    if (this.#batchBytes >= BATCH_BYTES) this.#store(() => undefined);
  }

  content(hash: string): Uint8Array<ArrayBuffer> | null {
    const found = this.#db
      .query<{ bytes: Uint8Array }, [string]>('SELECT bytes FROM contents WHERE hash = ?')
      .get(hash);
    return found && new Uint8Array(Bun.zstdDecompressSync(found.bytes));
  }

  #store<Result>(write: () => Result): Result {
    const insert = this.#db.query('INSERT OR IGNORE INTO contents VALUES (?, ?, ?)');
    const result = this.#db.transaction(() => {
      for (const [hash, bytes] of this.#batch) insert.run(hash, bytes.length, bytes);
      return write();
    })();
    for (const bytes of this.#batch.values()) this.#bytes += bytes.length;
    this.#batch.clear();
    this.#batchBytes = 0;
    return result;
  }

  // Calls.

  /** Null if it is not stored any more. */
  manifest(id: number): Manifest | null {
    const found = this.#db
      .query<{ body: Uint8Array }, [number]>('SELECT body FROM manifests WHERE id = ?')
      .get(id);
    if (!found) return null;
    const text = new TextDecoder().decode(Bun.zstdDecompressSync(found.body));
    return new Map(JSON.parse(text) as [string, Seen][]);
  }

  lastManifest(folder: string): { readonly id: number; readonly manifest: Manifest } | null {
    const found = this.#db
      .query<{ id: number }, [string]>('SELECT max(id) AS id FROM manifests WHERE folder = ?')
      .get(folder);
    const manifest = found?.id ? this.manifest(found.id) : null;
    return found && manifest && { id: found.id, manifest };
  }

  /** Replaces earlier ones of the folder that no call needs. */
  addManifest(folder: string, manifest: Manifest): number {
    const body = Bun.zstdCompressSync(JSON.stringify([...manifest]), { level: 1 });
    return this.#store(() => {
      this.#db
        .query(
          'DELETE FROM manifests WHERE folder = ? AND id NOT IN (SELECT manifest FROM pending WHERE manifest IS NOT NULL)',
        )
        .run(folder);
      const { lastInsertRowid } = this.#db
        .query('INSERT INTO manifests (folder, body) VALUES (?, ?)')
        .run(folder, body);
      return Number(lastInsertRowid);
    });
  }

  begin(session: CheckpointedSession, call: Omit<Pending, 'id'>): number {
    const { turn, call: id, seq, folder, manifest, before } = call;
    return this.#store(() => {
      const { lastInsertRowid } = this.#db
        .query(
          'INSERT INTO pending (owner, session, created, turn, call, seq, folder, manifest, before) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        )
        .run(...keyOf(session), turn, id, seq, folder, manifest, before && JSON.stringify(before));
      return Number(lastInsertRowid);
    });
  }

  pending(session: CheckpointedSession): Pending[] {
    type Row = Omit<Pending, 'before'> & { readonly before: string | null };
    return this.#db
      .query<Row, [string, string, number]>(
        'SELECT * FROM pending WHERE owner = ? AND session = ? AND created = ? ORDER BY id',
      )
      .all(...keyOf(session))
      .map((row) => ({ ...row, before: row.before === null ? null : (JSON.parse(row.before) as Before) }));
  }

  /** The calls have ended, and these are their changes. */
  end(
    session: CheckpointedSession,
    pending: readonly Pick<Pending, 'id' | 'turn' | 'call' | 'seq' | 'folder'>[],
    changes: readonly Omit<Change, 'id' | 'folder'>[],
  ): void {
    const last = pending.at(-1);
    if (!last) return;
    const insert = this.#db.query(
      'INSERT INTO changes (owner, session, created, turn, call, seq, folder, path, before, after, doubt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    );
    this.#store(() => {
      for (const { path, before, after, doubt } of changes)
        insert.run(
          ...keyOf(session),
          last.turn,
          last.call,
          last.seq,
          last.folder,
          path,
          JSON.stringify(before),
          JSON.stringify(after),
          doubt,
        );
      for (const { id } of pending) this.#db.query('DELETE FROM pending WHERE id = ?').run(id);
    });
  }

  /** Those that are not taken back, in order. */
  changes(session: CheckpointedSession, from: number): Change[] {
    type Row = Omit<Change, 'before' | 'after'> & { readonly before: string; readonly after: string };
    return this.#db
      .query<Row, [string, string, number, number]>(
        `SELECT id, folder, path, before, after, doubt FROM changes
         WHERE owner = ? AND session = ? AND created = ? AND seq >= ? AND active = 1 ORDER BY id`,
      )
      .all(...keyOf(session), from)
      .map((row) => ({
        ...row,
        before: JSON.parse(row.before) as State,
        after: JSON.parse(row.after) as State,
      }));
  }

  /** The contents of one file, in order: before the first change, and after each. */
  versions(session: CheckpointedSession, folder: string, path: string): FileVersion[] {
    type Row = { before: string; after: string; turn: TurnId; call: CallId; seq: number };
    const rows = this.#db
      .query<Row, [string, string, number, string, string]>(
        `SELECT before, after, turn, call, seq FROM changes
         WHERE owner = ? AND session = ? AND created = ? AND folder = ? AND path = ? AND active = 1 ORDER BY id`,
      )
      .all(...keyOf(session), folder, path);
    const versions: FileVersion[] = [];
    const add = (state: State, by?: FileVersion['by']) => {
      if (state?.kind !== 'file' || versions.at(-1)?.version === state.content) return;
      if (this.has(state.content)) versions.push({ version: state.content, ...(by && { by }) });
    };
    for (const [index, { before, after, turn, call, seq }] of rows.entries()) {
      if (index === 0) add(JSON.parse(before) as State);
      add(JSON.parse(after) as State, { turn, call, seq });
    }
    return versions;
  }

  knows(session: CheckpointedSession): boolean {
    return ['changes', 'pending', 'rewinds'].some(
      (table) =>
        this.#db
          .query(`SELECT 1 FROM ${table} WHERE owner = ? AND session = ? AND created = ? LIMIT 1`)
          .get(...keyOf(session)) !== null,
    );
  }

  // Rewinds.

  rewind(
    session: CheckpointedSession,
    id: string,
  ): { readonly folder: string; readonly outcome: RewoundFiles | null; readonly files: Restoring[] } | null {
    const found = this.#db
      .query<{ folder: string; outcome: string | null }, [string, string, number, string]>(
        'SELECT folder, outcome FROM rewinds WHERE owner = ? AND session = ? AND created = ? AND id = ?',
      )
      .get(...keyOf(session), id);
    if (!found) return null;
    type Row = {
      path: string;
      before: string;
      after: string;
      changes: string;
      active: number;
      kept: string | null;
    };
    const files = this.#db
      .query<Row, [string]>('SELECT * FROM restorings WHERE rewind = ?')
      .all(id)
      .map((row) => ({
        path: row.path,
        before: JSON.parse(row.before) as State,
        after: JSON.parse(row.after) as State,
        changes: JSON.parse(row.changes) as number[],
        active: row.active === 1,
        kept: row.kept,
      }));
    return {
      folder: found.folder,
      outcome: found.outcome === null ? null : (JSON.parse(found.outcome) as RewoundFiles),
      files,
    };
  }

  /** Stored with the contents from before the rewind, before the first file is changed. */
  beginRewind(session: CheckpointedSession, id: string, folder: string, files: readonly Restoring[]): void {
    const insert = this.#db.query('INSERT INTO restorings VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#store(() => {
      this.#db.query('INSERT INTO rewinds VALUES (?, ?, ?, ?, ?, NULL)').run(id, ...keyOf(session), folder);
      for (const { path, before, after, changes, active, kept } of files)
        insert.run(
          id,
          path,
          JSON.stringify(before),
          JSON.stringify(after),
          JSON.stringify(changes),
          active ? 1 : 0,
          kept,
        );
    });
  }

  endRewind(id: string, files: readonly Restoring[], outcome: RewoundFiles): void {
    this.#store(() => {
      for (const { path, kept, changes, active } of files) {
        this.#db.query('UPDATE restorings SET kept = ? WHERE rewind = ? AND path = ?').run(kept, id, path);
        if (kept === null)
          for (const change of changes)
            this.#db.query('UPDATE changes SET active = ? WHERE id = ?').run(active ? 1 : 0, change);
      }
      this.#db.query('UPDATE rewinds SET outcome = ? WHERE id = ?').run(JSON.stringify(outcome), id);
    });
  }

  // Space.

  sessions(): CheckpointedSession[] {
    return this.#db
      .query<{ owner: string; session: string; created: number }, []>(
        `SELECT owner, session, created FROM changes UNION SELECT owner, session, created FROM pending
         UNION SELECT owner, session, created FROM rewinds`,
      )
      .all()
      .map(
        ({ owner, session, created }) => ({ owner, id: session, createdAt: created }) as CheckpointedSession,
      );
  }

  /** `createdAt`: only of that session under this name. */
  forget({
    owner,
    id,
    createdAt,
  }: Pick<CheckpointedSession, 'owner' | 'id'> & { readonly createdAt?: number }): void {
    const where = 'owner = ? AND session = ? AND created = coalesce(?, created)';
    this.#store(() => {
      this.#db
        .query(`DELETE FROM restorings WHERE rewind IN (SELECT id FROM rewinds WHERE ${where})`)
        .run(owner, id, createdAt ?? null);
      for (const table of ['changes', 'pending', 'rewinds'])
        this.#db.query(`DELETE FROM ${table} WHERE ${where}`).run(owner, id, createdAt ?? null);
    });
  }

  /** of all contents, compressed */
  get bytes(): number {
    return this.#bytes;
  }

  #sum(): number {
    return (
      this.#db.query<{ bytes: number | null }, []>('SELECT sum(size) AS bytes FROM contents').get()?.bytes ??
      0
    );
  }

  /** Removes the oldest changes and rewinds until at most that many bytes of contents are left, then contents that nothing refers to. */
  collect(maxBytes: number): void {
    this.#sweep();
    while (this.#bytes > maxBytes) {
      const oldest = this.#db
        .query<{ owner: string; session: string; created: number; turn: string }, []>(
          'SELECT owner, session, created, turn FROM changes ORDER BY id LIMIT 1',
        )
        .get();
      if (!oldest) {
        this.#db
          .query(
            'DELETE FROM manifests WHERE id NOT IN (SELECT manifest FROM pending WHERE manifest IS NOT NULL)',
          )
          .run();
        this.#sweep();
        break;
      }
      const { owner, session, created, turn } = oldest;
      this.#db
        .query('DELETE FROM changes WHERE owner = ? AND session = ? AND created = ? AND turn = ?')
        .run(owner, session, created, turn);
      const where = 'owner = ? AND session = ? AND created = ? AND outcome IS NOT NULL';
      this.#db
        .query(`DELETE FROM restorings WHERE rewind IN (SELECT id FROM rewinds WHERE ${where})`)
        .run(owner, session, created);
      this.#db.query(`DELETE FROM rewinds WHERE ${where}`).run(owner, session, created);
      this.#sweep();
    }
    this.#db.run('PRAGMA incremental_vacuum');
  }

  #sweep(): void {
    const used = new Set<string>();
    const use = (state: State): void => {
      if (state?.kind === 'file') used.add(state.content);
    };
    for (const table of ['changes', 'restorings'])
      for (const { before } of this.#db
        .query<{ before: string }, []>(`SELECT before FROM ${table}`)
        .iterate())
        use(JSON.parse(before) as State);
    for (const { after } of this.#db.query<{ after: string }, []>('SELECT after FROM restorings').iterate())
      use(JSON.parse(after) as State);
    for (const { before } of this.#db
      .query<{ before: string | null }, []>('SELECT before FROM pending')
      .iterate())
      for (const [, state] of before === null ? [] : (JSON.parse(before) as Before)) use(state);
    for (const { id } of this.#db.query<{ id: number }, []>('SELECT id FROM manifests').all())
      for (const { entry } of this.manifest(id)?.values() ?? []) use(entry);
    const hashes = this.#db.query<{ hash: string }, []>('SELECT hash FROM contents').all();
    const remove = this.#db.query('DELETE FROM contents WHERE hash = ?');
    this.#db.transaction(() => {
      for (const { hash } of hashes) if (!used.has(hash)) remove.run(hash);
    })();
    this.#bytes = this.#sum();
  }
}
