/** Sandboxes a command with bubblewrap, if it works on this machine. */
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { errorCode } from '../../lib/errors.ts';
import { isReadOnly } from '../confined-path.ts';
import type { Guard } from '../guard.ts';
import { contains, exists, hiddenFrom } from '../paths.ts';
import { SAME_FOLDER } from './git-view.ts';
import { homeMounts } from './home.ts';

/** The command's view: hidden paths are empty, read-only ones unchanged. */
export type View = Guard & {
  /** the only writable folder, links resolved */
  readonly root: string;
  readonly workdir: string;
  /** home folders that the command sees empty, except for the programs of its PATH */
  readonly homes?: readonly string[];
  readonly path?: string;
  /** read-only: the command can write nothing at all */
  readonly looks?: boolean;
  /** the command may change the settings of the repository, which name programs that git runs */
  readonly writesGitSettings?: boolean;
  /** limit of the command's memory, in bytes: /tmp and /dev/shm, which are in memory, can hold a part of it */
  readonly memory?: number | undefined;
  /** folders of the server that the command may read, even below /tmp */
  readonly show?: readonly string[];
};

export interface Sandbox {
  /** The command that runs `argv` inside. Await `finish` when no process of it is running any more. */
  enter(argv: readonly string[], view: View): Promise<{ argv: string[]; finish: () => Promise<void> }>;
}

/** Null if bubblewrap is not available or does not work, which is tested. */
export async function findSandbox(): Promise<Sandbox | null> {
  const program = Bun.which('bwrap');
  if (!program) return null;
  const root = await realpath(await mkdtemp(join(tmpdir(), 'parlance-sandbox-')));
  try {
    // Before version 0.7, it has no option for the size.
    for (const sized of [true, false]) {
      const sandbox = bubblewrap(program, sized);
      const { argv } = await sandbox.enter(['true'], { root, workdir: root, hide: [], memory: 1_048_576 });
      const trial = Bun.spawn(argv, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', timeout: 5_000 });
      if ((await trial.exited) === 0) return sandbox;
    }
    return null;
  } finally {
    await rm(root, { recursive: true });
  }
}

/**
 * Files of /proc with which root changes the kernel, capabilities or not. bubblewrap leaves those writable that are
 * writable outside, and what is below /proc/PID belongs to the processes of the sandbox.
 */
const KERNEL_FILES = [
  ...['acpi', 'asound', 'bus', 'driver', 'fs', 'irq', 'latency_stats', 'mtrr', 'pressure', 'sched_debug'],
  ...['scsi', 'swaps', 'sys', 'sysrq-trigger', 'timer_stats', 'tty'],
].map((name) => `/proc/${name}`);

const bubblewrap = (program: string, sized: boolean): Sandbox => ({
  async enter(argv, view) {
    const { root, workdir, hide, show = [] } = view;
    const { memory } = view;
    const inside = hiddenFrom(root, hide);
    const inMemory = (path: string, share: number) => [
      ...(sized && memory !== undefined ? ['--size', String(Math.floor(memory * share))] : []),
      ...['--tmpfs', path],
    ];
    const git = view.looks ? UNCHANGED : await gitMounts(root, view.writesGitSettings);
    return {
      argv: [
        program,
        ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
        ...[...inMemory('/dev/shm', 1 / 4), '--remount-ro', '/dev'],
        ...KERNEL_FILES.flatMap((path) => ['--ro-bind-try', path, path]),
        // Sockets of other services are in /run, and a network namespace does not close them.
        ...[...inMemory('/tmp', 1 / 2), ...inMemory('/run', 1 / 64)],
        ...['--ro-bind-try', '/run/current-system', '/run/current-system'],
        ...homeMounts(view.homes ?? [], view.path ?? '', (home) => inMemory(home, 1 / 4)),
        ...[
          // A worktree is in a folder that is hidden: first the folder, then what is in it.
          ...(await hidingMounts(hide.filter((path) => !inside.includes(path)))),
          ...rootMounts(view),
          ...git.mounts,
          ...(view.looks ? [] : pins(root, inside)),
          ...(await hidingMounts(inside)),
        ],
        ...show.flatMap((path) => ['--ro-bind', path, path]),
        ...['--unshare-user-try', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
        ...['--unshare-cgroup-try', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
        ...['--chdir', workdir, '--', ...argv],
      ],
      finish: git.finish,
    };
  },
});

const UNCHANGED = { mounts: [], finish: async () => undefined };

/** The root, writable except for the server's own files. */
function rootMounts({ root, readOnly = [], writable = [], looks = false }: View): string[] {
  if (looks) return ['--ro-bind', root, root];
  const mounts = [
    isReadOnly({ root, hide: [], readOnly, writable }, root) ? '--ro-bind' : '--bind',
    root,
    root,
  ];
  const inside = readOnly.filter((path) => path !== root && contains(root, path) && existsSync(path));
  const open = writable.filter((path) => path !== root && contains(root, path) && existsSync(path));
  const ways = [
    ...inside.map((path) => ['--ro-bind', path, path]),
    ...open.map((path) => ['--bind', path, path]),
  ];
  // Outer ones first: a mount covers what is mounted below it.
  ways.sort(([, one = ''], [, other = '']) => one.length - other.length);
  return [...mounts, ...pins(root, inside), ...ways.flat()];
}

/**
 * The folders between the root and each of the paths, as mounts of their own: a mount cannot be moved, but a parent folder
 * could be, and with it a hidden path.
 */
const pins = (root: string, paths: readonly string[]): string[] =>
  [
    ...new Set(
      paths.filter((path) => contains(root, path) && existsSync(path)).flatMap((path) => between(root, path)),
    ),
  ].flatMap((folder) => ['--bind', folder, folder]);

/** Outermost first. */
const between = (root: string, path: string): string[] =>
  relative(root, path)
    .split(sep)
    .slice(0, -1)
    .map((_, index, names) => join(root, ...names.slice(0, index + 1)));

/** Makes what git would run or follow later, outside of any sandbox, read-only. */
async function gitMounts(
  root: string,
  writesSettings = false,
): Promise<{ mounts: string[]; finish: () => Promise<void> }> {
  const git = join(root, '.git');
  const kind = await lstat(git).catch((thrown) => {
    if (errorCode(thrown) === 'ENOENT') return null;
    throw thrown;
  });
  if (!kind) return UNCHANGED;
  if (!kind.isDirectory()) return { mounts: ['--ro-bind', git, git], finish: async () => undefined };
  const hooks = join(git, 'hooks');
  const config = join(git, 'config');
  const redirect = join(git, 'commondir');
  await mkdir(hooks, { recursive: true });
  const release = holdRedirection(redirect);
  return {
    // As a separate mount, .git cannot be moved away and replaced.
    mounts: [
      ...['--bind', git, git, '--ro-bind', hooks, hooks, '--ro-bind-try', redirect, redirect],
      // Git replaces the file, which nothing can do while it is a mount.
      ...(writesSettings ? [] : ['--ro-bind-try', config, config]),
    ],
    finish: async () => release(),
  };
}

/** Commands that need our file, by its path. */
const held = new Map<string, number>();

/**
 * `.git/commondir` redirects git to hooks and configuration elsewhere, and only a file that exists can be mounted read-only.
 * So there is one that leads to the same folder while commands run. Without awaits, so that no other command intervenes.
 */
function holdRedirection(path: string): () => void {
  const ours = () => held.has(path) || readFileSync(path, 'utf8') === SAME_FOLDER;
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) {
      // Complete from the start: git refuses an empty file.
      const made = `${path}.${crypto.randomUUID().slice(0, 8)}`;
      writeFileSync(made, SAME_FOLDER);
      renameSync(made, path);
    } else if (!lstatSync(path).isFile() || !ours()) return () => undefined;
  } catch (thrown) {
    // Where the server may not write, its commands may not either.
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(thrown) ?? '')) return () => undefined;
    throw thrown;
  }
  held.set(path, (held.get(path) ?? 0) + 1);
  return () => {
    const left = (held.get(path) ?? 1) - 1;
    if (left > 0) held.set(path, left);
    else {
      held.delete(path);
      rmSync(path, { force: true });
    }
  };
}

async function hidingMounts(hide: readonly string[]): Promise<string[]> {
  const mounts: string[] = [];
  for (const path of hide) {
    if (!(await exists(path))) continue;
    const real = await realpath(path);
    mounts.push(
      ...((await lstat(real)).isDirectory() ? ['--tmpfs', real] : ['--ro-bind', '/dev/null', real]),
    );
  }
  return mounts;
}
