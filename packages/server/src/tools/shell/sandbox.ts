/** Runs a command where it can do little: bubblewrap, on machines that have it and let it work. */
import { lstat, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode, exists } from '../paths.ts';

export type View = {
  /** the only folder that can be written, links resolved */
  readonly root: string;
  readonly workdir: string;
  /** what the command finds empty */
  readonly hide: readonly string[];
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
  async enter(argv, { root, workdir, hide, show = [] }) {
    const git = await gitMounts(root);
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
        ...['--bind', root, root, ...git.mounts, ...(await hidingMounts(hide))],
        ...show.flatMap((path) => ['--ro-bind', path, path]),
        ...['--unshare-user-try', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
        ...['--unshare-cgroup-try', '--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
        ...['--chdir', workdir, '--', ...argv],
      ],
      finish: git.finish,
    };
  },
});

/** What git would run or be redirected by on this machine later, outside any sandbox, cannot be written. */
async function gitMounts(root: string): Promise<{ mounts: string[]; finish: () => Promise<void> }> {
  const git = join(root, '.git');
  const kind = await lstat(git).catch((thrown) => {
    if (errorCode(thrown) === 'ENOENT') return null;
    throw thrown;
  });
  if (!kind) return { mounts: [], finish: async () => undefined };
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
