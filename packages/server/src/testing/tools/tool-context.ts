/** Shared parts of the tool tests: a working directory and the context of a call. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CallId, Fault, PrincipalId, SessionId, textOf } from '@parlance/protocol';
import type { Tool, ToolContext, ToolResult } from '../../core/ports/tool.ts';

export type ToolFixture = AsyncDisposable & {
  /** the working directory; its parent is outside and temporary as well */
  readonly root: string;
  readonly outside: string;
  write(path: string, content: string | Uint8Array): Promise<void>;
  read(path: string): Promise<string>;
};

export async function toolFixture(): Promise<ToolFixture> {
  const outside = await realpath(await mkdtemp(join(tmpdir(), 'parlance-tools-')));
  const root = join(outside, 'root');
  await mkdir(root);
  return {
    root,
    outside,
    async write(path, content) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await Bun.write(join(root, path), content);
    },
    read: (path) => Bun.file(join(root, path)).text(),
    [Symbol.asyncDispose]: () => rm(outside, { recursive: true, force: true }),
  };
}

const nothing = () => undefined;

export const contextIn = (root: string, changes: Partial<ToolContext> = {}): ToolContext => ({
  session: SessionId.parse('session'),
  owner: PrincipalId.parse('local'),
  call: CallId.parse('call'),
  root,
  signal: new AbortController().signal,
  permission: 'mode',
  answer: null,
  eventsSinceIdle: [],
  atClient: () => Promise.reject(new Fault('tool_failed', 'No client in this test.')),
  complete: () => Promise.reject(new Fault('tool_failed', 'No model in this test.')),
  peer: null,
  report: () => undefined,
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  ...changes,
});

/** Runs a tool as the core does: the input is validated by its schema first. */
export const use = (tool: Tool, input: unknown, context: ToolContext): Promise<ToolResult> =>
  Promise.resolve(tool.input.parse(input)).then((parsed) => tool.run(parsed, context));

export const textFrom = async (tool: Tool, input: unknown, context: ToolContext): Promise<string> =>
  textOf((await use(tool, input, context)).parts);

/** The fault of a failed call; throws if the call succeeds. */
export async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const thrown = await call.then(
    () => new Error('the call ended well'),
    (reason: unknown) => reason,
  );
  if (thrown instanceof Fault) return thrown;
  throw thrown;
}
