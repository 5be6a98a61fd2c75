/** Starts the built server like the image would, and uses it. */
import { existsSync, readdirSync } from 'node:fs';
import { outputOf } from '../../e2e/output.ts';
import { freePort } from '../../packages/server/src/testing/free-port.ts';
import type { Image } from './dockerfile.ts';
import { enter, type Mounts, unprivileged } from './enter.ts';

const PASSWORD = 'correct-horse';

export async function visit(image: Image, mounts: Mounts): Promise<void> {
  if (image.user === null) throw new Error('the image runs as root');
  const port = freePort();
  const environment = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    ...image.environment,
    PORT: String(port),
    SOCKUDO_APP_SECRET: crypto.randomUUID(),
    AUTH_USERS: `ann:${PASSWORD}:developer`,
  };
  const inside = (argv: readonly string[]) =>
    Bun.spawn([...enter(mounts, { writable: false }), ...unprivileged(image.user ?? ''), ...argv], {
      env: environment,
      stdout: 'pipe',
      stderr: 'pipe',
    });
  const server = inside(entrypointHere([...image.entrypoint, ...image.command]));
  const output = outputOf(server.stdout);
  const errors = outputOf(server.stderr);
  try {
    await output.written(`parlance listening on http://0.0.0.0:${port}`).catch(async () => {
      throw new Error(`it did not start: ${await errors.all()}`);
    });
    must(
      'the process has the image’s user',
      (await uidOf(await innermost(server.pid))) === image.user.split(':')[0],
    );
    must('the healthcheck says so', (await inside(image.healthcheck ?? ['false']).exited) === 0);
    must('the code cannot be changed', (await inside(['touch', '/app/package.json']).exited) !== 0);
    must('nor anything else', (await inside(['touch', '/etc/parlance']).exited) !== 0);
    await talk(`http://127.0.0.1:${port}`);
  } finally {
    // Bubblewrap is its parent, and does not forward signals.
    if (server.exitCode === null) process.kill(await innermost(server.pid), 'SIGTERM');
  }
  must('the extension is in it', existsSync(`${mounts['/app']}/packages/extension/dist/manifest.json`));
  must('it stops when it is told to', (await server.exited) === 0);
  must('what it keeps is in the volume', readdirSync(mounts['/data'] ?? '').length > 0);
}

async function talk(http: string): Promise<void> {
  must('nobody comes in without a token', (await fetch(`${http}/v1/sessions`)).status === 401);
  const page = await fetch(http);
  must('the console is there', page.status === 200 && (await page.text()).includes('/assets/'));
  const docs = await fetch(`${http}/docs/`);
  must('the documentation is there', docs.status === 200 && (await docs.text()).includes('Parlance'));
  const post = (path: string, body: object, token = '') =>
    fetch(`${http}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
  const login = await post('/v1/auth/login', { username: 'ann', password: PASSWORD });
  const { access_token: token } = (await login.json()) as { access_token: string };
  must('a user can log in', login.status === 200);
  const input = { type: 'input.submit', parts: [{ type: 'text', text: 'Hello' }] };
  must('a message is taken', (await post('/v1/sessions/image/commands', input, token)).status === 200);
  const stream = await fetch(`${http}/v1/sessions/image/events`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
  });
  let output = '';
  for await (const chunk of stream.body ?? []) {
    output += new TextDecoder().decode(chunk);
    if (output.includes('"turn.ended"')) break;
  }
  must('and answered', output.includes('"turn.ended"'));
}

/** tini is in the image; if this machine does not have it, the server starts without it. */
function entrypointHere([first = '', ...rest]: readonly string[]): string[] {
  if (existsSync(first) || !first.endsWith('/tini')) return [first, ...rest];
  console.log(`left out: ${first}`);
  return rest.slice(rest.indexOf('--') + 1);
}

async function innermost(pid: number): Promise<number> {
  const child = Number.parseInt(await Bun.file(`/proc/${pid}/task/${pid}/children`).text(), 10);
  return Number.isNaN(child) ? pid : innermost(child);
}

async function uidOf(pid: number): Promise<string | undefined> {
  return /^Uid:\s+(\d+)/m.exec(await Bun.file(`/proc/${pid}/status`).text())?.[1];
}

function must(what: string, holds: boolean): void {
  if (!holds) throw new Error(`check failed: ${what}`);
  console.log(`ok: ${what}`);
}
