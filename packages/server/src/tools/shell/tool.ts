/** Runs a command: in the sandbox where there is one, and after a question unless it is known to be safe. */
import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Ask, Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import {
  defineTool,
  type RuleSubjects,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../core/ports/tool.ts';
import { cutText } from '../cut.ts';
import { seconds } from '../duration.ts';
import { askToPatch, patchedPaths, runPatch } from '../patch/tool.ts';
import { confine } from '../paths.ts';
import { commandEnvironment } from './environment.ts';
import { grantFor, quote } from './grant.ts';
import { mayLeave, mayReadHidden } from './hidden.ts';
import { normalForm } from './normalize.ts';
import { patchIn } from './patch-call.ts';
import { type Ended, runProcess, withJoinedOutput } from './process.ts';
import { commandSubjects, commandsOf, isKnownSafe } from './safe.ts';
import type { Sandbox } from './sandbox.ts';

const Input = z.object({
  command: z
    .array(z.string().refine((word) => !word.includes('\0'), { message: 'must not contain NUL' }))
    .min(1)
    .describe('The program and its arguments, for example ["bash", "-lc", "ls | head"].'),
  workdir: z.string().optional().describe('Where to run, inside the working folder.'),
  timeout: z.number().int().min(1).max(600_000).default(10_000).describe('Milliseconds.'),
});
type Input = z.output<typeof Input>;

export type ShellOptions = {
  readonly sandbox: Sandbox | null;
  readonly hide: readonly string[];
};

/** The same tool is offered under each name that models know it by. */
export const shell = (name: 'shell' | 'local_shell', options: ShellOptions): Tool =>
  defineTool({
    name,
    description: `Runs a command in the working folder and gives its output.${options.sandbox ? ' It has no network.' : ''}`,
    input: Input,
    asks: true,
    subjects: ruleSubjects,
    ruledAs: ({ command }) => ['shell', 'local_shell', ...(patchIn(command) === null ? [] : ['apply_patch'])],
    approval: (input, { root }) => askToRun(input, root, options),
    run: (input, context) => runShell(input, context, options),
  });

/** A patch that is given to the shell is judged by the files it changes. */
function ruleSubjects({ command, workdir = '.' }: Input): RuleSubjects {
  const patch = patchIn(command);
  if (patch === null) return { literal: commandSubjects(command), ...normalForm(command) };
  const literal = patchedPaths(patch);
  return literal ? { literal, normalised: literal.map((path) => join(workdir, path)) } : { literal };
}

async function askToRun(input: Input, root: string, options: ShellOptions): Promise<Ask | null> {
  const base = resolve(root, input.workdir ?? '.');
  const patch = patchIn(input.command);
  if (patch !== null) return askToPatch(patch, { root, hide: options.hide }, base);
  if (isKnownSafe(input.command) && staysClear(input.command, base, root, options)) return null;
  const where = relative(root, base);
  const grant = grantFor(input.command);
  return {
    kind: 'command',
    command: input.command,
    description: [
      `Runs ${cutText(input.command.map(quote).join(' '), 300)}`,
      where === '' ? '' : ` in ${where}`,
      options.sandbox ? '' : ' without a sandbox',
      '.',
    ].join(''),
    ...(grant === undefined ? {} : { grant }),
  };
}

/**
 * A look outside the working directory must be asked for: there are keys, and without a sandbox what the server was
 * started with is in /proc. With a sandbox the hidden folders are empty; without one a look into them is asked for, too.
 */
function staysClear(
  argv: readonly string[],
  workdir: string,
  root: string,
  { sandbox, hide }: ShellOptions,
): boolean {
  const commands = commandsOf(argv);
  if (commands === null || mayLeave(commands, follow(workdir), follow(root), follow)) return false;
  if (sandbox) return true;
  const hidden = hide.map((path) => follow(resolve(path)));
  return !mayReadHidden(commands, follow(workdir), hidden, follow);
}

/** The real path of the nearest existing parent, with the rest appended: most words of a command are not paths. */
function follow(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(follow(dirname(path)), basename(path));
  }
}

async function runShell(input: Input, context: ToolContext, options: ShellOptions): Promise<ToolResult> {
  const bounds = { root: context.root, hide: options.hide };
  const { path: workdir } = await confine(bounds, input.workdir ?? '.');
  const patch = patchIn(input.command);
  if (patch !== null) return runPatch(patch, { bounds, base: workdir }, context);
  const isFolder = await stat(workdir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new Fault('tool_failed', `There is no folder ${input.workdir} to run in.`);
  return report(await runCommand(input, workdir, context, options), input.timeout);
}

async function runCommand(
  { command, timeout }: Input,
  workdir: string,
  { root, signal }: ToolContext,
  { sandbox, hide }: ShellOptions,
): Promise<Ended> {
  if (signal.aborted) throw new Fault('cancelled', 'aborted');
  const environment = commandEnvironment(process.env);
  const program = command[0] ?? '';
  if (!program.includes('/') && !Bun.which(program, { PATH: environment.PATH ?? '' })) {
    return { reason: 'exited', exitCode: 127, output: `${program}: program not found\n`, durationMs: 0 };
  }
  const inside = await sandbox?.enter(command, { root: realpathSync(root), workdir, hide });
  const argv = withJoinedOutput(inside?.argv ?? command);
  const run = { argv, workdir, environment, timeoutMs: timeout, signal };
  return runProcess(run).finally(() => inside?.finish());
}

function report({ reason, exitCode, output: shown, durationMs }: Ended, timeout: number): ToolResult {
  if (reason === 'aborted') throw new Fault('cancelled', 'aborted');
  const gap = shown === '' || shown.endsWith('\n') ? '' : '\n';
  const output =
    reason === 'timeout'
      ? `${shown}${gap}The command was stopped after ${seconds(timeout)} s (timeout).\n`
      : shown;
  return {
    parts: [textPart(output === '' ? `(no output, exit code ${exitCode})` : output)],
    data: { output, exit_code: exitCode, duration_seconds: seconds(durationMs) },
    failed: exitCode !== 0,
  };
}
