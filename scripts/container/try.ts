/**
 * `npm run test:image`: executes the Dockerfile without a container engine and checks that the result serves. Each
 * stage is a folder mounted at its path in the image, over the programs of this machine. The server runs as the
 * image's user, with the image's environment, on a read-only file system. Steps that need an engine (base images,
 * their packages, the user entry) are listed and skipped. Needs root, bubblewrap and setpriv.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'bun';
import { copyInto, ignoreRules } from './context.ts';
import { readDockerfile, type Step } from './dockerfile.ts';
import { enter, type Mounts } from './enter.ts';
import { visit } from './visit.ts';

const ROOT = join(import.meta.dir, '../..');
const image = readDockerfile(await Bun.file(join(ROOT, 'Dockerfile')).text());
const ignored = ignoreRules(await Bun.file(join(ROOT, '.dockerignore')).text());

for (const program of ['bwrap', 'setpriv'])
  if (!Bun.which(program) || process.getuid?.() !== 0) {
    console.error(`test:image needs root and ${program}`);
    process.exit(1);
  }

const folder = mkdtempSync(join(tmpdir(), 'parlance-image-'));
try {
  const mounts = await build();
  const size = (await $`du -sm ${mounts['/app'] ?? ''}`.text()).split('\t')[0];
  console.log(`/app has ${size} MB: ${readdirSync(mounts['/app'] ?? '').join(' ')}`);
  await visit(image, mounts);
  console.log('the image serves');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the folders of the last stage. */
async function build(): Promise<Mounts> {
  const stages = new Map<string, Mounts>();
  for (const [index, { name, steps }] of image.stages.entries()) {
    const stage = `${name ?? index}`;
    const mounts: Record<string, string> = {};
    for (const path of ['/app', ...(index === image.stages.length - 1 ? image.volumes : [])]) {
      mounts[path] = join(folder, stage, path);
      mkdirSync(mounts[path], { recursive: true });
    }
    stages.set(stage, mounts);
    for (const step of steps) await take(step, mounts, stages);
  }
  return stages.get(`${image.stages.at(-1)?.name ?? image.stages.length - 1}`) ?? {};
}

async function take(step: Step, mounts: Mounts, stages: ReadonlyMap<string, Mounts>): Promise<void> {
  switch (step.kind) {
    case 'workdir':
      if (step.path !== '/app')
        throw new Error(`only /app is supported as a working directory, not ${step.path}`);
      return;
    case 'copy': {
      const to = `${mounts['/app']}/${step.to}`;
      if (step.from === null) return copyInto(to, step.sources, { root: ROOT, ignored });
      const source = stages.get(step.from)?.['/app'];
      if (source === undefined) throw new Error(`there is no stage ${step.from}`);
      for (const path of step.sources) {
        mkdirSync(to, { recursive: true });
        await $`cp -a ${join(source, path.slice('/app'.length))}/. ${to}`;
      }
      return;
    }
    case 'run':
      for (const command of step.script.split(' && ').map((part) => part.trim())) {
        if (/^(apt-get|groupadd|useradd|rm -rf \/var)/.test(command)) console.log(`left out: ${command}`);
        else await runIn(mounts, command);
      }
  }
}

async function runIn(mounts: Mounts, command: string): Promise<void> {
  console.log(`+ ${command}`);
  const run = Bun.spawn([...enter(mounts, { writable: true }), 'sh', '-c', command], {
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const complaint = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`${command}\n${complaint}`);
}
