/** Runs a command where it can do little: bubblewrap, on machines that have it and let it work. */
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { isReadOnly } from '../beneath.ts';
import type { Guard } from '../guard.ts';
import { contains, errorCode, exists } from '../paths.ts';
import { homeMounts } from './home.ts';

/** What a command finds: hidden places empty, read-only ones as they are. */
export type View = Guard & {
  /** the only folder that can be written, links resolved */
  readonly root: string;
  readonly workdir: string;
  /** home folders that the command finds empty, but for the programs of its PATH */
  readonly homes?: readonly string[];
  readonly path?: string;
  /** the command only looks: it can write nothing at all */
  readonly looks?: boolean;
  /** folders of the server that the command may read, even below /tmp */
  readonly show?: readonly string[];
};

export interface Sandbox {
  /** The command that runs `argv` inside. `finish` must be awaited once nothing of it runs any more. */
  enter(argv: readonly string[], view: View): Promise<{ argv: string[]; finish: () => Promise<void> }>;
}

/** Null where there is no bubblewrap, or where the machine does not let it do its work: it is tried, not assumed. */
export async function findSandbox(): Promise<Sandbox | null> {
  const program = Bun.which('bwrap');
  if (!program) return null;
  const sandbox = bubblewrap(program);
  const root = await realpath(await mkdtemp(join(tmpdir(), 'parlance-sandbox-')));
  try {
    const { argv } = await sandbox.enter(['true'], { root, workdir: root, hide: [] });
    const trial = Bun.spawn(argv, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', timeout: 5_000 });
    return (await trial.exited) === 0 ? sandbox : null;
  } finally {
    await rm(root, { recursive: true });
  }
}

const bubblewrap = (program: string): Sandbox => ({
  async enter(argv, view) {
    const { root, workdir, hide, show = [] } = view;
    const git = view.looks ? UNCHANGED : await gitMounts(root);
    return {
      argv: [
        program,
        ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
        // Sockets of other services live in /run, and a network namespace does not close them.
        ...[
          '--tmpfs',
          '/tmp',
          '--tmpfs',
          '/run',
          '--ro-bind-try',
          '/run/current-system',
          '/run/current-system',
        ],
        ...homeMounts(view.homes ?? [], view.path ?? ''),
        ...[
          ...rootMounts(view),
          ...git.mounts,
          ...(view.looks ? [] : pins(root, hide)),
          ...(await hidingMounts(hide)),
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

/** The root, writable but for what of it belongs to the server. */
function rootMounts({ root, readOnly = [], writable = [], looks = false }: View): string[] {
  if (looks) return ['--ro-bind', root, root];
  const mounts = [
    isReadOnly({ root, hide: [], readOnly, writable }, root) ? '--ro-bind' : '--bind',
    root,
    root,
  ];
  const inside = readOnly.filter((path) => path !== root && contains(root, path) && existsSync(path));
  mounts.push(...pins(root, inside), ...inside.flatMap((path) => ['--ro-bind', path, path]));
  const open = writable.filter((path) => path !== root && contains(root, path) && existsSync(path));
  return [...mounts, ...open.flatMap((path) => ['--bind', path, path])];
}

/**
 * The folders between the root and each of the paths, as mounts of their own: a mount cannot be moved, and with a folder above
 * it what is hidden there could be moved to where nobody hides it.
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

/** What git would run or be redirected by on this machine later, outside any sandbox, cannot be written. */
async function gitMounts(root: string): Promise<{ mounts: string[]; finish: () => Promise<void> }> {
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
  const redirected = await exists(redirect);
  return {
    // As a mount of its own, .git cannot be moved away and replaced.
    mounts: ['--bind', git, git, '--ro-bind', hooks, hooks, '--ro-bind-try', config, config],
    // A file of this name makes git read hooks and config elsewhere; it cannot be mounted over before it is there.
    finish: async () => {
      if (!redirected) await rm(redirect, { recursive: true, force: true });
    },
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
