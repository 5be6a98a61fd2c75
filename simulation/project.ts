/**
 * Instructions of a project (O17): the model reads what a person has accepted and what the session has recorded, and a person who has
 * answered is not asked again in that session.
 */
import type { DurableEvent, ProjectFile } from '@parlance/protocol';
import { z } from 'zod';
import { type SessionRef, sessionKey } from '../packages/server/src/core/ports/event-store.ts';
import type { Project } from '../packages/server/src/core/ports/project.ts';
import type { Prompt } from '../packages/server/src/core/ports/provider.ts';
import { defineTool } from '../packages/server/src/core/ports/tool.ts';
import type { Process, World } from './world.ts';

const PATH = 'AGENTS.md';
/** How often somebody changes the file. */
const CHANGED_EVERY_MS = 3_000;

const textOf = (hash: string) => `The rules are those of ${hash}.`;
const READ = /The rules are those of (v\d+)\./;

type Decision = 'used' | 'declined';

/** What people have decided about each version, in the database. */
export class Decisions {
  readonly #made = new Map<string, Decision>();

  constructor(private readonly world: World) {}

  get current(): string {
    return `v${Math.floor(this.world.now / CHANGED_EVERY_MS)}`;
  }

  of(hash: string): Decision | undefined {
    return this.#made.get(hash);
  }

  make(hash: string, use: Decision): void {
    this.#made.set(hash, use);
  }
}

type Ask = <Result>(kind: 'read' | 'write', effect: () => Result) => Promise<Result>;

export function projectOf(process: Process, decisions: Decisions, ask: Ask): Project {
  const useOf = (hash: string): ProjectFile['use'] => decisions.of(hash) ?? 'new';
  return {
    tool: defineTool({
      name: 'skill',
      description: 'Loads a skill.',
      input: z.object({}),
      approval: () => null,
      run: async () => ({ parts: [] }),
    }),
    look: () => ask('read', () => [{ path: PATH, hash: decisions.current, use: useOf(decisions.current) }]),
    async ask(_place, files) {
      await process.sleep(process.random.latency(5));
      return files.map(({ path, hash }) => ({ path, hash, text: textOf(hash), isDiff: false }));
    },
    decide: (_place, files, { use }) =>
      ask('write', () => {
        for (const { hash } of files) decisions.make(hash, use);
      }),
    load: (_place, files) =>
      ask('read', () => ({
        instructions: files
          .filter(({ hash, use }) => use === 'used' && decisions.of(hash) === 'used')
          .map(({ path, hash }) => ({ path, text: textOf(hash) })),
        skills: [],
      })),
  };
}

type Asked = { readonly session: string; readonly turn: string; readonly hashes: readonly string[] };

export class ProjectRules {
  readonly #asked = new Map<string, Asked>();
  /** by session: versions about which a person has answered there, and the turn */
  readonly #answered = new Map<string, Map<string, string>>();
  readonly #accepted = new Set<string>();
  readonly #recorded = new Map<string, readonly ProjectFile[]>();
  /** turns that have gone on after the answer */
  readonly #wentOn = new Set<string>();

  constructor(private readonly fail: (ref: SessionRef, message: string) => void) {}

  committed(ref: SessionRef, events: readonly DurableEvent[]): void {
    const session = sessionKey(ref);
    for (const event of events) {
      if (event.type === 'question.asked' && event.purpose === 'instructions' && !event.child) {
        const { files } = z.object({ files: z.array(z.object({ hash: z.string() })) }).parse(event.data);
        const hashes = files.map(({ hash }) => hash);
        for (const hash of hashes) {
          const turn = this.#answered.get(session)?.get(hash);
          if (turn !== undefined && this.#wentOn.has(turn))
            this.fail(ref, `a person is asked about ${hash} again, which was answered in turn ${turn}`);
        }
        this.#asked.set(event.question, { session, turn: event.turn, hashes });
      } else if (event.type === 'question.answered' && event.outcome !== 'withdrawn') {
        const asked = this.#asked.get(event.question);
        if (!asked || asked.session !== session) continue;
        const answered = this.#answered.get(session) ?? new Map<string, string>();
        this.#answered.set(session, answered);
        for (const hash of asked.hashes) {
          answered.set(hash, asked.turn);
          if (event.answers?.use?.[0] === 'Use') this.#accepted.add(hash);
        }
      } else if (event.type === 'instructions.changed') this.#recorded.set(session, event.files);
    }
  }

  modelCalled(ref: SessionRef, turn: string, { instructions }: Prompt): void {
    this.#wentOn.add(turn);
    const read = READ.exec(instructions)?.[1];
    if (read === undefined) return;
    if (!this.#accepted.has(read)) this.fail(ref, `the model reads ${read}, which nobody has accepted`);
    const recorded = this.#recorded.get(sessionKey(ref))?.find(({ use }) => use === 'used');
    if (recorded?.hash !== read)
      this.fail(ref, `the model reads ${read}, but the session has recorded ${recorded?.hash ?? 'nothing'}`);
  }

  /** The session is gone, or begins again with this log. */
  reset(ref: SessionRef, log: readonly DurableEvent[] = []): void {
    this.#answered.delete(sessionKey(ref));
    this.#recorded.delete(sessionKey(ref));
    this.committed(
      ref,
      log.filter(({ type }) => type === 'instructions.changed'),
    );
  }
}
