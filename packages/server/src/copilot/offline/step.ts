/** The description of a plan step: action, reason and expectation. */
import type { Page } from '../page/page.ts';
import type { Intent } from './intent.ts';
import { nextAction } from './resolve.ts';

export type PlannedStep = {
  readonly description: string;
  readonly reasoning: string;
  readonly toolType: 'DOM' | 'SERVER' | 'MIXED';
  readonly expectedOutcome?: Readonly<Record<string, unknown>>;
  readonly intent: Intent;
};

export const UNKNOWN: Page = { title: '', url: '', elements: [], shown: 0, text: '', truncated: false };

export function stepOf(intent: Intent): PlannedStep {
  const { description, outcome } = storyOf(intent);
  return {
    description,
    reasoning:
      intent.kind === 'answer' ? 'The page itself is the source of the answer.' : 'The request asks for it.',
    toolType: intent.kind === 'answer' ? 'SERVER' : 'DOM',
    ...(outcome && { expectedOutcome: outcome }),
    intent,
  };
}

type Story = { readonly description: string; readonly outcome?: Readonly<Record<string, unknown>> };

function storyOf(intent: Intent): Story {
  switch (intent.kind) {
    case 'click':
      return { description: `Click ${intent.target}`, outcome: { element: intent.target } };
    case 'doubleClick':
      return { description: `Double-click ${intent.target}`, outcome: { element: intent.target } };
    case 'rightClick':
      return { description: `Right-click ${intent.target}` };
    case 'hover':
      return { description: `Hover over ${intent.target}` };
    case 'drag':
      return { description: `Drag ${intent.target} to ${intent.onto}` };
    case 'fill':
      if (/\b(?:password|passcode|pin)\b/i.test(intent.target ?? ''))
        return { description: `Fill in ${intent.target}` };
      if (intent.target === null)
        return { description: `Type “${intent.text}”`, outcome: { value: intent.text } };
      return {
        description:
          intent.text === '' ? `Clear ${intent.target}` : `Enter “${intent.text}” into ${intent.target}`,
        outcome: { value: intent.text },
      };
    case 'choose':
      return {
        description: `Choose “${intent.option}”${intent.target === null ? '' : ` in ${intent.target}`}`,
        outcome: { value: intent.option },
      };
    case 'tick':
      return {
        description: `${intent.on ? 'Check' : 'Uncheck'} ${intent.target}`,
        outcome: { checked: intent.on },
      };
    case 'fillSearch':
      return { description: `Enter “${intent.text}” into the search field`, outcome: { value: intent.text } };
    case 'sendSearch':
      return { description: 'Start the search' };
    case 'webSearch':
      return { description: `Search the web for “${intent.text}”` };
    case 'fillUser':
      return { description: `Enter “${intent.text}” as the user name`, outcome: { value: intent.text } };
    case 'fillPassword':
      return { description: 'Enter the password' };
    case 'submit':
      return { description: 'Submit the form' };
    case 'login':
      return { description: 'Open the login form' };
    case 'visit':
      return { description: `Go to ${intent.url}`, outcome: { url: intent.url } };
    case 'newTab':
      return { description: 'Open a new tab' };
    case 'turnPage':
      return {
        description:
          typeof intent.to === 'number' ? `Go to page ${intent.to}` : `Go to the ${intent.to} page`,
      };
    case 'history':
      return { description: `Go ${intent.to}` };
    case 'reload':
      return { description: 'Load the page again' };
    case 'closeDialog':
      return { description: 'Close the dialog' };
    case 'answer':
      return { description: `Answer from the page: ${intent.question}` };
    case 'press':
    case 'scroll':
    case 'wait':
    case 'dialog':
    case 'findText': {
      const next = nextAction(intent, UNKNOWN);
      return {
        description:
          'action' in next
            ? next.thought.replace(/^I (\w)/, (_, first: string) => first.toUpperCase()).replace(/\.$/, '')
            : intent.kind,
      };
    }
  }
}
