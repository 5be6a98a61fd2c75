/** The official client against a test server. */
import { afterAll, afterEach, beforeAll, expect } from 'bun:test';
import { type AgentSubscriber, HttpAgent, type Message, type RunAgentParameters } from '@ag-ui/client';

/** Fails tests in which the client prints a warning: it prints one for everything it drops or repairs. Call it at the top level. */
export function failOnWarnings(): void {
  const { warn, error } = console;
  const warnings: string[] = [];
  beforeAll(() => {
    console.warn = (...words: unknown[]) => {
      warnings.push(words.map(String).join(' '));
      warn(...words);
    };
    // It also prints errors that it throws.
    console.error = (...words: unknown[]) => {
      if (words[0] !== 'Agent execution failed:') error(...words);
    };
  });
  afterEach(() => expect(warnings.splice(0)).toEqual([]));
  afterAll(() => Object.assign(console, { warn, error }));
}

export type Event = Record<string, unknown> & { readonly type: string };

export type Outcome = {
  readonly type: string;
  readonly pendingToolCallIds?: string[];
  readonly interrupts?: {
    readonly id: string;
    readonly reason: string;
    readonly message: string;
    readonly toolCallId: string;
    readonly responseSchema: object;
  }[];
};

export type RunResult = {
  readonly events: Event[];
  readonly types: string[];
  readonly newMessages: Message[];
  /** of the last event */
  readonly outcome: Outcome | undefined;
};

export type ClientOptions = {
  readonly thread?: string;
  readonly token?: string;
  readonly agent?: string;
  readonly messages?: Message[];
};

export function httpAgent(http: string, options: ClientOptions = {}): HttpAgent {
  const { thread, token, agent, messages } = options;
  return new HttpAgent({
    url: `${http}/agui${agent === undefined ? '' : `/${agent}`}`,
    threadId: thread ?? crypto.randomUUID(),
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    ...(messages && { initialMessages: messages }),
  });
}

export const user = (content: string, id: string = crypto.randomUUID()): Message => ({
  id,
  role: 'user',
  content,
});

/** Runs the agent, optionally with a user message, and collects every event that passed the client's validation. */
export async function run(
  agent: HttpAgent,
  text: string | null,
  { onEvent, ...parameters }: RunAgentParameters & { onEvent?: (event: Event) => void } = {},
): Promise<RunResult> {
  if (text !== null) agent.addMessage(user(text));
  const events: Event[] = [];
  const subscriber: AgentSubscriber = {
    onEvent: ({ event }) => {
      events.push(event as unknown as Event);
      onEvent?.(event as unknown as Event);
    },
  };
  const { newMessages } = await agent.runAgent(parameters, subscriber);
  const last = events.at(-1);
  return {
    events,
    types: events.map(({ type }) => type),
    newMessages,
    outcome: last?.outcome as Outcome | undefined,
  };
}

/** Consecutive events of one type count once. */
export const distinct = (types: readonly string[]): string[] =>
  types.filter((type, index) => type !== types[index - 1]);

export const contentOf = (messages: readonly Message[], role: string): string[] =>
  messages.filter((message) => message.role === role).map(({ content }) => String(content ?? ''));
