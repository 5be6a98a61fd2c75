/** What is shown and asked before an action: its target, and why it needs a confirmation. */
import type { Action } from '@parlance/copilot';
import type { Inspection, PageTool } from '../messages.ts';
import { repeatedAction } from './actions/dialogs.ts';
import { pressedAt } from './actions/points.ts';
import { nameOf } from './dom/names.ts';
import { roleOf } from './dom/roles.ts';
import { elementById, numberOf } from './numbers.ts';
import { sensitivity } from './sensitivity.ts';
import { elementSelected, type Parameters, textIn } from './tools/parameters.ts';

export async function inspect(action: Action): Promise<Inspection> {
  const element = await targetOf(action);
  return {
    ...sensitivity(action, element),
    target: element && { id: numberOf(element), role: roleOf(element), name: nameOf(element) },
  };
}

/** `acceptDialog` is about the target of the action that opened the dialog. An element that is gone fails in the action itself, with a message. */
async function targetOf(action: Action): Promise<Element | null> {
  const meant = action.name === 'acceptDialog' ? (repeatedAction() ?? action) : action;
  const id = 'id' in meant ? meant.id : 'from' in meant ? meant.from : null;
  try {
    if (id === null) return null;
    return meant.name === 'clickAt' ? await pressedAt(meant) : elementById(id);
  } catch {
    return null;
  }
}

export async function inspectTool(tool: PageTool, parameters: Parameters): Promise<Inspection> {
  if (tool === 'storage_access') return { reasons: ['stored-data'], target: null, destination: null };
  if (tool !== 'dom_manipulation') return { reasons: [], target: null, destination: null };
  const element = elementSelected(textIn(parameters, 'selector'));
  const id = numberOf(element);
  if (parameters.action !== 'submit') return inspect(asAction(parameters, id));
  const form = element.closest('form');
  const button = form?.querySelector<HTMLElement>('button:not([type]), [type=submit], [type=image]');
  return inspect({ name: 'click', id: button ? numberOf(button) : id });
}

const asAction = (parameters: Parameters, id: number): Action =>
  parameters.action === 'type'
    ? { name: 'setValue', id, text: textIn(parameters, 'value') }
    : { name: 'click', id };
