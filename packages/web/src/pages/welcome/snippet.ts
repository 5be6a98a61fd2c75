/** Commands that can be pasted into a terminal. They read the token from PARLANCE_TOKEN. */
import { shellWord } from '../timeline/wscat.ts';

export type Snippet = {
  readonly title: string;
  readonly language: 'sh' | 'js' | 'ts' | 'python' | 'json' | 'toml';
  readonly code: string;
  /** it uses PARLANCE_TOKEN */
  readonly needsToken: boolean;
  /** the socket it opens, if any */
  readonly socket?: SocketTry;
};

export type SocketTry = {
  readonly address: string;
  readonly needsToken: boolean;
  /** sent one after another; replies are printed until Ctrl-C */
  readonly frames: readonly object[];
};

const BEARER = '"Authorization: Bearer $PARLANCE_TOKEN"';

export function wscat(title: string, socket: SocketTry): Snippet {
  const { address, needsToken, frames } = socket;
  const lines = [`npx wscat -c ${shellWord(address)}`];
  if (needsToken) lines.push(`-H ${BEARER}`);
  for (const frame of frames) lines.push(`-x ${shellWord(JSON.stringify(frame))}`);
  return { title, language: 'sh', code: [...lines, '-w -1'].join(' \\\n  '), needsToken, socket };
}

export type HttpTry = {
  readonly method: string;
  readonly address: string;
  readonly needsToken: boolean;
  readonly body?: object;
  /** the response is a stream of server-sent events */
  readonly stream?: boolean;
};

export function curl(title: string, request: HttpTry): Snippet {
  const { method, address, needsToken, body, stream = false } = request;
  const lines = [`curl -s${stream ? 'N' : ''} ${shellWord(address)}`];
  // curl chooses these two by itself.
  if (method !== (body ? 'POST' : 'GET')) lines.push(`-X ${method}`);
  if (needsToken) lines.push(`-H ${BEARER}`);
  if (stream) lines.push("-H 'accept: text/event-stream'");
  if (body) lines.push("-H 'content-type: application/json'", `-d ${shellWord(JSON.stringify(body))}`);
  return { title, language: 'sh', code: lines.join(' \\\n  '), needsToken };
}

/** Sets PARLANCE_TOKEN from name and password. */
export function logIn(origin: string, name: string): Snippet {
  const body = JSON.stringify({ username: name, password: 'PASSWORD' });
  const code = [
    `export PARLANCE_TOKEN="$(curl -s ${shellWord(`${origin}/v1/auth/login`)}`,
    "-H 'content-type: application/json'",
    `-d ${shellWord(body)}`,
    `| sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')"`,
  ].join(' \\\n  ');
  return { title: 'Sign in from a terminal (insert your password)', language: 'sh', code, needsToken: false };
}
