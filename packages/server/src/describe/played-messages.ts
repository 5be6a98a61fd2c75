/** The messages that a client can try, with examples. */
import {
  type Endpoint,
  EXAMPLE_IDS,
  type MessageExample,
  type RequestExample,
} from '../dialects/shared/description.ts';
import type { DialectView } from '../dialects/shared/dialect-list.ts';
import type { Described } from './descriptions.ts';
import { requestPath } from './request-path.ts';

type Message = DialectView['messages'][number];
type Example = Message['examples'][number];

export function playedMessages({ messages, commands, endpoints }: Described): Message[] {
  if (messages)
    return Object.entries(messages.in).map(([name, { summary, examples }]) => ({
      name,
      summary,
      examples: shown(examples(EXAMPLE_IDS)).map(exampleOf),
    }));
  const taken = endpoints.find(({ path }) => path === commands?.path);
  return taken ? commandsOf(taken) : endpoints.map(requestsOf);
}

const shown = <Marked extends { readonly probe?: true }>(examples: readonly Marked[]): Marked[] =>
  examples.filter(({ probe }) => !probe);

const examplesOf = ({ examples = () => [{}] }: Endpoint): RequestExample[] => shown(examples(EXAMPLE_IDS));

const exampleOf = ({ title, frame, before }: Pick<MessageExample, 'title' | 'frame' | 'before'>) =>
  ({ title, frame, before: before ?? null }) as Example;

/** The type of a command is the name of the message. */
function commandsOf(endpoint: Endpoint): Message[] {
  const examples = examplesOf(endpoint).map(({ title = '', body = {} }) => exampleOf({ title, frame: body }));
  return [...Map.groupBy(examples, ({ frame }) => String(frame.type))].map(([name, same]) => ({
    name,
    summary: endpoint.summary,
    examples: same,
  }));
}

function requestsOf(endpoint: Endpoint): Message {
  const { path, summary } = endpoint;
  const method = endpoint.method.toUpperCase();
  return {
    name: `${method} ${path}`,
    summary,
    examples: examplesOf(endpoint).map((example) =>
      exampleOf({
        title: example.title ?? summary,
        frame: { method, path: requestPath(endpoint, example), body: example.body },
      }),
    ),
  };
}
