/** Runs a command: in the sandbox if there is one, and with approval unless it is known to be safe. */
import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { delimiter, isAbsolute, relative, resolve } from 'node:path';
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
import type { Guard } from '../guard.ts';
import { askToPatch, patchedPaths, patchSubjects, runPatch } from '../patch/tool.ts';
import { confine, contains, hiddenFrom } from '../paths.ts';
import { readsUntrusted } from '../untrusted-files.ts';
import { type CommandRequest, planAutoApproved } from './auto-approved.ts';
import { watchGitFolders } from './git-quarantine.ts';
import { openGitView } from './git-view.ts';
import { type GrantScope, grantFor, quote } from './grant.ts';
import { hiddenHomes } from './home.ts';
import type { CommandLimits } from './limits.ts';
import { commandSubjects, normalForm, writesGitSettings } from './normalize.ts';
import { type Ended, runProcess, withJoinedOutput } from './process.ts';
import type { Sandbox } from './sandbox.ts';
import { targetOf } from './scope.ts';
import { scriptOf } from './script.ts';

const Input = z.object({
  command: z
    .array(z.string().refine((word) => !word.includes('\0'), { message: 'must not contain NUL' }))
    .min(1)
    .describe('The program and its arguments, for example ["bash", "-lc", "ls | head"].'),
  workdir: z.string().optional().describe('Where to run, inside the working folder.'),
  timeout: z.number().int().min(1).max(600_000).default(10_000).describe('Milliseconds.'),
});
type Input = z.output<typeof Input>;

export type ShellOptions = Guard & {
  readonly sandbox: Sandbox | null;
  readonly limits?: CommandLimits | undefined;
};

/** The same tool, under each name that models know. */
export const shell = (name: 'shell' | 'local_shell', options: ShellOptions): Tool =>
  defineTool({
    name,
    description: `Runs a command in the working folder and returns its output.${options.sandbox ? ' It has no network access.' : ''}`,
    input: Input,
    asks: true,
    exclusive: 'if-asked',
    subjects: ruleSubjects,
    ruledAs: ({ command }) => ['shell', 'local_shell', ...(patchIn(command) === null ? [] : ['apply_patch'])],
    approval: (input, { root }) => askToRun(input, root, options),
    changes: ({ command, workdir = '.' }, { root, permission }) => {
      const patch = patchIn(command);
      if (patch === null) return permission === 'safe' ? undefined : 'folder';
      return patchedPaths(patch)?.map((path) => resolve(root, workdir, path));
    },
    run: (input, context) => runShell(input, context, options),
  });

function ruleSubjects({ command, workdir }: Input, folder: string): RuleSubjects {
  const patch = patchIn(command);
  return patch === null
    ? { literal: commandSubjects(command), ...normalForm(command) }
    : patchSubjects(patch, folder, workdir);
}

async function askToRun(input: Input, root: string, options: ShellOptions): Promise<Ask | null> {
  const base = resolve(root, input.workdir ?? '.');
  const patch = patchIn(input.command);
  if (patch !== null) return askToPatch(patch, { root, ...options }, base);
  if (await planAutoApproved(commandRequest(input, root, options))) return null;
  const where = relative(root, base);
  const grant = await grantFor(input.command, grantPlace(input, root, options));
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

function grantPlace(input: Input, root: string, options: ShellOptions): GrantScope {
  const { scope } = commandRequest(input, root, options);
  const target = targetOf(scope.root, input.workdir ?? '.');
  // A folder that cannot be resolved counts as outside: nothing is granted there.
  return { scope, workdir: target.kind === 'folder' ? target.path : '/' };
}

/** With a sandbox the hidden folders are empty; without one, reading them needs approval. Git and hard links can show them in both cases. */
function commandRequest(
  { command, workdir = '.' }: Input,
  root: string,
  { sandbox, hide }: ShellOptions,
): CommandRequest {
  const folder = realpathSync(root);
  const secrets = hiddenFrom(folder, hide).map(realPath);
  const scope = { root: folder, hide: sandbox ? [] : secrets, secrets };
  return { command, workdir: relative(root, resolve(root, workdir)), scope, home: process.env.HOME };
}

function realPath(path: string): string {
  const target = targetOf('/', resolve(path));
  return target.kind === 'unclear' ? resolve(path) : target.path;
}

async function runShell(input: Input, context: ToolContext, options: ShellOptions): Promise<ToolResult> {
  const bounds = { root: context.root, ...options };
  const { path: workdir } = await confine(bounds, input.workdir ?? '.');
  const patch = patchIn(input.command);
  if (patch !== null) return runPatch(patch, { bounds, base: workdir }, context);
  const isFolder = await stat(workdir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new Fault('tool_failed', `There is no folder ${input.workdir} to run in.`);
  const isSafe = context.permission === 'safe';
  const { command, ...ended } = isSafe
    ? await runAutoApproved(input, context, options)
    : {
        command: input.command,
        ...(await runCommand(
          { ...input, workdir, environment: commandEnvironment(process.env) },
          context,
          options,
        )),
      };
  const hasNetwork = !isSafe && !options.sandbox && input.command.some((word) => word.includes('://'));
  const untrusted = hasNetwork || readsUntrusted(bounds, { command, workdir, output: ended.output });
  return { ...report(ended, input.timeout), ...(untrusted && { untrusted }) };
}

/** Checks again, so that only commands that are safe right now run. */
async function runAutoApproved(
  input: Input,
  context: ToolContext,
  options: ShellOptions,
): Promise<Ended & Pick<Command, 'command'>> {
  const request = commandRequest(input, context.root, options);
  const plan = await planAutoApproved(request);
  if (!plan)
    throw new Fault(
      'tool_failed',
      'Files have changed, and the command must be asked for now. Call it again.',
    );
  const { scope } = request;
  const environment = autoApprovedEnvironment(process.env, scope.root);
  const { argv: command, workdir } = plan;
  const judged = { command, workdir, environment, timeout: input.timeout };
  if (!plan.usesGit) return { command, ...(await runCommand(judged, context, options)) };
  const view = await openGitView(scope, environment.PATH);
  const withGit = { ...judged, environment: { ...environment, ...view.environment }, show: [view.folder] };
  return { command, ...(await runCommand(withGit, context, options).finally(view.close)) };
}

type Command = {
  readonly command: readonly string[];
  readonly workdir: string;
  readonly environment: Record<string, string>;
  readonly timeout: number;
  /** folders of the server that it reads */
  readonly show?: readonly string[];
};

async function runCommand(
  { command: given, workdir, environment, timeout, show }: Command,
  { root: folder, signal, permission }: ToolContext,
  { sandbox, limits, ...guard }: ShellOptions,
): Promise<Ended> {
  if (signal.aborted) throw new Fault('cancelled', 'aborted');
  // Built into shells. Alone, it only tells whether there is such a folder.
  const command = given[0] === 'cd' ? ['sh', '-c', 'cd "$@"', ...given] : given;
  const program = command[0] ?? '';
  if (!program.includes('/') && !Bun.which(program, { PATH: environment.PATH ?? '' })) {
    return { reason: 'exited', exitCode: 127, output: `${program}: program not found\n`, durationMs: 0 };
  }
  const root = realpathSync(folder);
  const homes = permission === 'approved' ? [] : hiddenHomes(process.env, root);
  const view = {
    root,
    workdir,
    show,
    homes,
    path: environment.PATH ?? '',
    looks: permission === 'safe',
    memory: limits?.memory,
    writesGitSettings: permission === 'approved' && writesGitSettings(command),
    ...guard,
  };
  const inside = await sandbox?.enter(command, view);
  // A read-only command leaves nothing; in one that only changes settings, the person has read them.
  const watched = sandbox && !view.looks && !view.writesGitSettings;
  const watch = watched ? await watchGitFolders({ root, ...guard }) : null;
  const argv = withJoinedOutput(inside?.argv ?? command);
  const run = {
    argv,
    workdir,
    environment,
    timeoutMs: timeout,
    signal,
    limits,
    isolated: inside !== undefined,
  };
  let notes: string[] = [];
  const ended = await runProcess(run).finally(async () => {
    await inside?.finish();
    notes = (await watch?.settle()) ?? [];
  });
  return notes.length === 0 ? ended : { ...ended, output: `${ended.output}${quarantineText(notes)}` };
}

const quarantineText = (notes: readonly string[]): string =>
  `\n[What the command left for git or a server to run later, outside the sandbox, was made harmless:\n${notes.slice(0, 20).join('\n')}]\n`;

function report({ reason, limit, exitCode, output: shown, durationMs }: Ended, timeout: number): ToolResult {
  if (reason === 'aborted') throw new Fault('cancelled', 'aborted');
  const gap = shown === '' || shown.endsWith('\n') ? '' : '\n';
  const stopped = {
    exited: '',
    timeout: `${gap}The command was stopped after ${seconds(timeout)} s (timeout).\n`,
    limit: `${gap}The command was stopped: ${limit}.\n`,
  }[reason];
  const output = `${shown}${stopped}`;
  return {
    parts: [textPart(output === '' ? `(no output, exit code ${exitCode})` : output)],
    data: { output, exit_code: exitCode, duration_seconds: seconds(durationMs) },
    failed: exitCode !== 0,
  };
}

// Environment of a command: an allowlist, so that no key of the server reaches it.

const PASSED = 'PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TERM TZ'.split(' ');

/** git runs the file monitor of a repository even for `git status`; these settings override it. */
const GIT = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_TERMINAL_PROMPT: '0',
};

/** PATH without entries in the working directory, where an editing tool could put a program. */
function autoApprovedEnvironment(
  own: Record<string, string | undefined>,
  root: string,
): Record<string, string> & { PATH: string } {
  const folders = (own.PATH ?? '').split(delimiter).filter((folder) => {
    const target = targetOf(root, folder);
    return isAbsolute(folder) && target.kind === 'folder' && !contains(root, target.path);
  });
  const path = folders.length > 0 ? folders.join(delimiter) : '/usr/local/bin:/usr/bin:/bin';
  return { ...commandEnvironment(own), PATH: path };
}

function commandEnvironment(own: Record<string, string | undefined>): Record<string, string> {
  const passed = PASSED.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  return { ...Object.fromEntries(passed), ...GIT };
}

// Recognises a patch passed to the shell instead of to its own tool.

const HEREDOC = /^\s*apply_patch\s*<<\s*(['"]?)([A-Za-z_]\w*)\1[ \t]*\r?\n/;

/** The patch in `apply_patch <patch>` or `bash -lc "apply_patch <<'EOF' … EOF"`; null for any other command. */
function patchIn(argv: readonly string[]): string | null {
  const [program, patch] = argv;
  if (program === 'apply_patch') return argv.length === 2 ? (patch ?? null) : null;
  const script = scriptOf(argv);
  const opening = script === null ? null : HEREDOC.exec(script);
  const delimiter = opening?.[2];
  if (script === null || !opening || delimiter === undefined) return null;
  const lines = script.slice(opening[0].length).split('\n');
  const end = lines.findIndex((line) => line.trimEnd() === delimiter);
  // Anything after the patch would run as well, so it is a script and not a patch.
  if (end < 0 || lines.slice(end + 1).some((line) => line.trim() !== '')) return null;
  return lines.slice(0, end).join('\n');
}
