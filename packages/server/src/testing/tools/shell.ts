/** Shared parts of tests of unapproved commands: a hostile repository, and a command judged and run as the core does. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ShellOptions, shell } from '../../tools/shell/tool.ts';
import { contextIn, type ToolFixture, use } from './tool-context.ts';

/** The output of a command that runs without approval; null if it needs one. */
export async function autoApprovedOutput(
  place: ToolFixture,
  input: { command: string[]; workdir?: string },
  options: ShellOptions,
): Promise<string | null> {
  const tool = shell('shell', options);
  const ask = await tool.approval(tool.input.parse(input), { root: place.root });
  if (ask !== null) return null;
  const result = await use(tool, input, contextIn(place.root, { permission: 'safe' }));
  return String(result.data?.output);
}

export const bash = (script: string): string[] => ['bash', '-lc', script];

export type Canary = {
  /** a program that leaves a mark if it is run */
  readonly program: string;
  /** Whether it was run since the last check. */
  wasRun(): Promise<boolean>;
};

/** Inside the root, where a sandboxed program can leave its mark too. */
export async function canaryIn({ root }: ToolFixture): Promise<Canary> {
  const program = join(root, 'canary.sh');
  const mark = join(root, 'mark');
  await Bun.write(program, `#!/bin/sh\necho sang >> '${mark}'\ncat\n`);
  await chmod(program, 0o755);
  return {
    program,
    async wasRun() {
      const wasRun = await Bun.file(mark).exists();
      await rm(mark, { force: true });
      return wasRun;
    },
  };
}

const IDENTITY = ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];

/** Runs git without this machine's configuration; throws if it fails. */
export const git = (cwd: string, ...words: string[]): string => gitWith(cwd, words, '');

function gitWith(cwd: string, words: readonly string[], input: string): string {
  const done = Bun.spawnSync(['git', ...IDENTITY, ...words], {
    cwd,
    stdin: Buffer.from(input),
    env: { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
  if (done.exitCode !== 0) throw new Error(`git ${words.join(' ')}: ${done.stderr}`);
  return done.stdout.toString();
}

const SIGNATURE = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';

/** A repository with one signed commit and one change, in which every file uses the driver `canary`. */
export async function repositoryIn(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  git(folder, 'init', '-q', '-b', 'main');
  await Bun.write(join(folder, 'a.txt'), 'one\n');
  git(folder, 'add', 'a.txt');
  git(folder, 'commit', '-q', '-m', 'first');
  const commit = git(folder, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\n${SIGNATURE}\n\n`);
  const signed = gitWith(folder, ['hash-object', '-t', 'commit', '-w', '--stdin'], commit);
  git(folder, 'update-ref', 'refs/heads/main', signed.trim());
  await Bun.write(join(folder, '.gitattributes'), '* diff=canary filter=canary merge=canary\n');
  await Bun.write(join(folder, 'a.txt'), 'two\n');
}

/** Settings with which a repository can have a program run on read-only commands. */
export const hostileSettings = (program: string): Record<string, string> => ({
  'diff.external': `[diff]\nexternal = ${program}\n`,
  'diff.<driver>.command': `[diff "canary"]\ncommand = ${program}\n`,
  'diff.<driver>.textconv': `[diff "canary"]\ntextconv = ${program}\n`,
  'filter.<driver>.clean': `[filter "canary"]\nclean = ${program}\nrequired = true\n`,
  'filter.<driver>.process': `[filter "canary"]\nprocess = ${program}\n`,
  'core.fsmonitor': `[core]\nfsmonitor = ${program}\n`,
  'core.pager': `[core]\npager = ${program}\n[pager]\nstatus = ${program}\nlog = ${program}\n`,
  'core.hooksPath': `[core]\nhooksPath = ${dirname(program)}\n`,
  'gpg.program': `[log]\nshowSignature = true\n[gpg]\nprogram = ${program}\n[gpg "ssh"]\nprogram = ${program}\n`,
  'format.pretty': `[format]\npretty = "%h %G? %s"\n[gpg]\nprogram = ${program}\n`,
  alias: `[alias]\nstatus = !${program}\nlog = !${program}\n`,
  'core.sshCommand': `[core]\nsshCommand = ${program}\nalternateRefsCommand = ${program}\naskPass = ${program}\n`,
});
