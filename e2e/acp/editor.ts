/** An editor: the official client, connected with `parlance acp` as editors start it. */
import { join } from 'node:path';
import {
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { until } from '../../packages/server/src/testing/until.ts';

export const PARLANCE = join(import.meta.dir, '../../packages/cli/bin/parlance');

const COMMAND = ['sh', PARLANCE, 'acp'];

export type Update = SessionNotification['update'];

export type Permission = {
  readonly request: RequestPermissionRequest;
  /** aborted when the server withdraws the request */
  readonly signal: AbortSignal;
};

export type Answer = (
  permission: Permission,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>;

export type EditorOptions = {
  readonly env: Record<string, string>;
  readonly cwd: string;
  /** the command, `parlance acp` by default */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly answer?: Answer;
  /** answers forms, which the editor then declares to show */
  readonly fill?: Fill;
};

/** The signal is aborted when the server withdraws the form. */
export type Fill = (
  form: CreateElicitationRequest,
  signal: AbortSignal,
) => CreateElicitationResponse | Promise<CreateElicitationResponse>;

export const choose = (optionId: string): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
});

/** Resolves when the request is withdrawn. */
export const whenWithdrawn = async ({ signal }: Permission): Promise<RequestPermissionResponse> => {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return { outcome: { outcome: 'cancelled' } };
};

export class Editor implements AsyncDisposable {
  readonly updates: SessionNotification[] = [];
  readonly permissions: Permission[] = [];
  readonly forms: { readonly form: CreateElicitationRequest; readonly signal: AbortSignal }[] = [];
  readonly #hasForms: boolean;
  /** everything on standard output */
  output = '';
  readonly #process;
  readonly #errors: Promise<string>;
  readonly connection: ClientConnection;

  constructor({
    env,
    cwd,
    command = COMMAND,
    args = [],
    answer = () => choose('once'),
    fill,
  }: EditorOptions) {
    this.#hasForms = fill !== undefined;
    this.#process = Bun.spawn([...command, ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: cwd, LOG_LEVEL: 'silent', ...env },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#errors = this.#process.stderr.text();
    const { stdin } = this.#process;
    const toServer = new WritableStream<Uint8Array>({
      async write(chunk) {
        stdin.write(chunk);
        await stdin.flush();
      },
    });
    const decoder = new TextDecoder();
    const seen = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.output += decoder.decode(chunk, { stream: true });
        controller.enqueue(chunk);
      },
    });
    this.connection = client({ name: 'test' })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        const permission = { request: params, signal };
        this.permissions.push(permission);
        return answer(permission);
      })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params);
      })
      // After the others: the official client takes a step for each handler, and updates must not come after answers.
      .onRequest(methods.client.elicitation.create, async ({ params: form, signal }) => {
        this.forms.push({ form, signal });
        return fill ? fill(form, signal) : { action: 'cancel' };
      })
      .connect(ndJsonStream(toServer, this.#process.stdout.pipeThrough(seen)));
  }

  get agent() {
    return this.connection.agent;
  }

  initialize() {
    return this.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: this.#hasForms ? { elicitation: { form: {} } } : {},
    });
  }

  async newSession(cwd: string): Promise<string> {
    const { sessionId } = await this.agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    return sessionId;
  }

  prompt(sessionId: string, text: string) {
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  }

  load(sessionId: string, cwd = '/') {
    return this.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  }

  resume(sessionId: string, cwd = '/') {
    return this.agent.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
  }

  cancel(sessionId: string) {
    return this.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  of(sessionId: string): Update[] {
    return this.updates.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  }

  /** The text of one kind of chunk. */
  text(sessionId: string, kind: Update['sessionUpdate'] = 'agent_message_chunk'): string {
    return this.of(sessionId)
      .flatMap((update) =>
        update.sessionUpdate === kind &&
        'content' in update &&
        !Array.isArray(update.content) &&
        update.content?.type === 'text'
          ? [update.content.text]
          : [],
      )
      .join('');
  }

  /** The official client needs a moment for a message that has been received. */
  async until(done: () => boolean): Promise<void> {
    await until(done, () => this.output);
  }

  /** Sends one line verbatim. */
  raw(line: string | Uint8Array): void {
    const { stdin } = this.#process;
    stdin.write(line);
    stdin.write('\n');
    void stdin.flush();
  }

  /** The input ends; resolves with the exit code and standard error. */
  async end(): Promise<{ code: number; errors: string }> {
    await this.#process.stdin.end();
    return { code: await this.#process.exited, errors: await this.#errors };
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** The code and message of a refused request. */
export const refusal = (asked: PromiseLike<unknown>): PromiseLike<{ code?: number; message?: string }> =>
  asked.then(
    () => ({}),
    (error: { code: number; message: string }) => ({ code: error.code, message: error.message }),
  );
