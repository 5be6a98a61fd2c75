/** First messages to choose from. They work with the chosen agent and model. Pure. */
import type { About } from '@parlance/sdk';

const MOST = 4;

/** The offline model understands these; it is a program and not a language model. */
const OFFLINE: readonly { readonly text: string; readonly needs?: string }[] = [
  { text: 'What can you do?' },
  { text: 'List the files here', needs: 'list_files' },
  { text: 'Create file notes.txt with hello', needs: 'apply_patch' },
  { text: 'Explain git rebase' },
  { text: 'Tell me a story about a lighthouse' },
];

/** For agents without their own. */
const USUAL: readonly string[] = ['What can you do?', 'What can you help me with here?'];

type Known = Pick<About, 'agents' | 'domains' | 'models' | 'model' | 'provider'>;
export type Chosen = {
  readonly model: string | null;
  readonly agent: string | null;
  readonly domain: string;
};

export function startersFor(about: Known, chosen: Chosen): readonly string[] {
  const agent = agentFor(about, chosen);
  if (modelFor(about, chosen).provider === 'offline') {
    const has = (tool: string | undefined) => !tool || !agent?.tools || agent.tools.includes(tool);
    return OFFLINE.filter(({ needs }) => has(needs))
      .map(({ text }) => text)
      .slice(0, MOST);
  }
  const own = agent?.starters ?? [];
  return (own.length > 0 ? own : USUAL).slice(0, MOST);
}

function agentFor({ agents, domains }: Known, { agent, domain }: Chosen) {
  const id = agent ?? domains.find((one) => one.id === domain)?.defaultAgent;
  return agents.find((one) => one.id === id);
}

/** The model that will answer; `provider` is null if the server does not list the model. */
export function modelFor(
  about: Known,
  chosen: Chosen,
): { readonly model: string; readonly provider: string | null } {
  const model = chosen.model ?? agentFor(about, chosen)?.model ?? null;
  if (model === null) return { model: about.model, provider: about.provider };
  return { model, provider: about.models.find(({ id }) => id === model)?.provider ?? null };
}
