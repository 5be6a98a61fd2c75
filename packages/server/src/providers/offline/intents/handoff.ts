/** "hand off to the tester", "ask the reviewer to …", "let the planner …". */
import { isObject } from '@parlance/protocol';
import { doing, type Intent, type Scene, saying } from '../plan.ts';
import { code } from '../text/quote.ts';

const HAND =
  /^(?:(?:hand\s*(?:this\s+|it\s+)?(?:off|over)|delegate)\s+(?:this\s+|it\s+)?to\s+(?:the\s+)?|(?:transfer|pass|switch)\s+(?:this\s+|it\s+|me\s+)?(?:over\s+)?to\s+the\s+)([\w-]+)(?:\s+agent)?(?:\s*(?:,|:|because|since|so\s+that|to|for)\s*(.+))?$/i;
const ASK = /^(?:ask|tell|have|let)\s+the\s+([\w-]+)(?:\s+agent)?\s+(?:to\s+)?(.+)$/i;
/** Role names, if the agents are unknown: "let the games begin" contains none. */
const ROLE = /(?:er|or|ist|ath|ian|ent)$/;

export const handoff: Intent = {
  name: 'handoff',
  match({ line }, scene) {
    const hand = HAND.exec(line);
    const match = hand ?? ASK.exec(line);
    const said = match?.[1]?.toLowerCase();
    if (!said) return null;
    const known = agentsIn(scene);
    const agent = known.find((id) => id.toLowerCase() === said) ?? said;
    const exists = known.length > 0 ? known.includes(agent) : hand !== null || ROLE.test(said);
    if (!exists && !hand) return null;
    if (!exists) {
      const names = known.map((id) => code(id)).join(', ');
      return saying(`There is no agent ${code(said)} here. There are: ${names}.`);
    }
    const reason = match?.[2]?.trim() || `The user asked for the ${agent}.`;
    const options = [{ tool: 'handoff', input: { agent, reason } }];
    return doing(`hand off to the ${agent}`, options, () => `The ${agent} has taken over: ${reason}`);
  },
};

/** The agents in the schema or the description of the tool. */
function agentsIn({ tools }: Scene): string[] {
  const spec = tools.get('handoff');
  const properties = spec?.parameters.properties;
  const agent = isObject(properties) ? properties.agent : undefined;
  if (isObject(agent) && Array.isArray(agent.enum))
    return agent.enum.filter((name) => typeof name === 'string');
  const listed = /\bAgents: ([\w-]+(?:, [\w-]+)*)/.exec(spec?.description ?? '')?.[1];
  return listed?.split(', ') ?? [];
}
