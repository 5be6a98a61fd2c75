/** "hand off to the tester", "ask the reviewer to …", "let the planner …". */
import { isObject } from '@parlance/protocol';
import { doing, type Intent, type Scene, saying } from '../plan.ts';
import { code } from '../text/quote.ts';

const HAND =
  /^(?:hand\s*(?:this\s+|it\s+)?(?:off|over)|transfer|pass|switch|delegate)\s+(?:this\s+|it\s+|me\s+)?(?:over\s+)?to\s+(?:the\s+)?([\w-]+)(?:\s+agent)?(?:\s*(?:,|:|because|since|so\s+that|to|for)\s*(.+))?$/i;
const ASK = /^(?:ask|tell|have|let)\s+the\s+([\w-]+)(?:\s+agent)?\s+(?:to\s+)?(.+)$/i;

export const handoff: Intent = {
  name: 'handoff',
  match({ line }, scene) {
    const match = HAND.exec(line) ?? ASK.exec(line);
    const said = match?.[1]?.toLowerCase();
    if (!said) return null;
    const known = agentsIn(scene);
    const agent = known.find((id) => id.toLowerCase() === said) ?? said;
    if (known.length > 0 && !known.includes(agent)) {
      return saying(
        `There is no agent ${code(said)} here. There are: ${known.map((id) => code(id)).join(', ')}.`,
      );
    }
    const reason = match?.[2]?.trim() || `The user asked for the ${agent}.`;
    const options = [{ tool: 'handoff', input: { agent, reason } }];
    return doing(`hand off to the ${agent}`, options, () => `The ${agent} has taken over: ${reason}`);
  },
};

/** The agents that the tool itself names, where it does. */
function agentsIn(scene: Scene): string[] {
  const properties = scene.tools.get('handoff')?.parameters.properties;
  const agent = isObject(properties) ? properties.agent : undefined;
  const names = isObject(agent) && Array.isArray(agent.enum) ? agent.enum : [];
  return names.filter((name) => typeof name === 'string');
}
