/** One answer in a conversation. Stateless: everything is read from the prompt. */
import type { Part } from '@parlance/protocol';
import { planActions } from './clauses.ts';
import { answerTo } from './intents/answering.ts';
import type { Answer, PlanContext } from './plan.ts';
import { nextAnswer } from './planner.ts';
import { currentTurn, type Prompt } from './prompt.ts';
import { code } from './text.ts';
import { parseMessage } from './user-message.ts';

export function chat({ items, tools }: Prompt): Answer {
  const turn = currentTurn(items);
  const context: PlanContext = {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    turn,
    earlier: items.slice(0, turn.start),
  };
  const message = parseMessage(turn.request);
  const answer = nextAnswer(planActions(message, context) ?? answerTo(message, context), context);
  if (turn.attachments.length === 0 || turn.calls.length > 0) return answer;
  return { ...answer, text: `${received(turn.attachments)}\n\n${answer.text}` };
}

function received(attachments: readonly Part[]): string {
  const names = attachments.map((part) => (part.type === 'file' ? code(part.name, 60) : 'an image'));
  return `I received ${names.join(', ')}, but I cannot see what is inside: I read only text.`;
}
