/** One answer in a conversation. Stateless: everything is read from the prompt. */
import type { Part } from '@parlance/protocol';
import type { Prompt } from '../../core/ports/provider.ts';
import { firstMatch, planActions } from './clauses.ts';
import { anything } from './intents/anything.ts';
import { ACTIONS, TALK, WHOLE } from './intents/table.ts';
import type { Answer, Plan, Scene } from './plan.ts';
import { nextAnswer } from './planner.ts';
import { code } from './text/quote.ts';
import { currentTurn } from './turn.ts';
import { listen } from './utterance.ts';

export function chat(prompt: Prompt): Answer {
  const turn = currentTurn(prompt.items);
  const tools = new Map(prompt.tools.map((tool) => [tool.name, tool]));
  const scene: Scene = { tools, turn, earlier: prompt.items.slice(0, turn.start) };
  const answer = nextAnswer(planFor(scene), scene);
  if (turn.attachments.length === 0 || turn.done.length > 0) return answer;
  return { ...answer, text: `${received(turn.attachments)}\n\n${answer.text}` };
}

function planFor(scene: Scene): Plan {
  const utterance = listen(scene.turn.request);
  return (
    firstMatch(WHOLE, utterance, scene)?.plan ??
    planActions(utterance, ACTIONS, scene) ??
    firstMatch(TALK, utterance, scene)?.plan ??
    anything(scene)
  );
}

function received(attachments: readonly Part[]): string {
  const images = attachments.filter((part) => part.type === 'image').length;
  const names = attachments.flatMap((part) => (part.type === 'file' ? [code(part.name, 60)] : []));
  const things = [
    ...(images === 0 ? [] : [images === 1 ? 'an image' : `${images} images`]),
    ...(names.length === 0 ? [] : [`the ${names.length === 1 ? 'file' : 'files'} ${names.join(', ')}`]),
  ];
  return `I received ${things.join(' and ')}, but I cannot see what is inside: I read only text.`;
}
