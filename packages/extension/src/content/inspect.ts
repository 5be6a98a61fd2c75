/** What is shown and asked before an action: its target, and why it needs a confirmation. */
import type { Action } from '@parlance/copilot';
import type { Inspection, PageTool, SensitiveReason } from '../messages.ts';
import { repeatedAction } from './actions/dialogs.ts';
import { pressedAt } from './actions/pointer.ts';
import { activeElement, closest, elementsIn } from './dom/flat-tree.ts';
import {
  destinationOf,
  isInput,
  isLink,
  isSelect,
  isSubmitter,
  isTextArea,
  isTextInput,
  isTickedInput,
  roleOf,
} from './dom/kinds.ts';
import { nameOf } from './dom/names.ts';
import { isPaymentField } from './dom/secrets.ts';
import { isVisible } from './dom/visibility.ts';
import { keyNamed } from './events.ts';
import { elementById, numberOf } from './numbers.ts';
import { elementSelected, type Parameters, textIn } from './tools.ts';

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

// Actions that the user confirms in any case: payments, downloads, uploads, other origins, code, stored data.

type Sensitivity = {
  readonly reasons: readonly SensitiveReason[];
  readonly destination: string | null;
};

const NONE: Sensitivity = { reasons: [], destination: null };

/** `element` is the one that the action is for, if it is for one. */
function sensitivity(action: Action, element: Element | null): Sensitivity {
  switch (action.name) {
    case 'evaluate':
      return { reasons: ['evaluate'], destination: null };
    case 'getCookies':
    case 'getLocalStorage':
      return { reasons: ['stored-data'], destination: null };
    case 'navigate':
    case 'createTab':
      return leaving(action.url);
    case 'search':
      return { reasons: ['other-origin'], destination: null };
    case 'press':
      return PRESSING.has(keyNamed(action.key)?.key ?? '') ? pressed(activeElement(document)) : NONE;
    case 'type':
      return action.text.includes('\n') ? pressed(activeElement(document)) : NONE;
    case 'acceptDialog': {
      const again = repeatedAction();
      return again && again.name !== 'acceptDialog' ? sensitivity(again, element) : NONE;
    }
    case 'click':
    case 'clickAt':
    case 'doubleClick':
    case 'check':
    case 'uncheck':
      return element ? clicked(element) : NONE;
    // A list that the page has built is opened with a click.
    case 'selectDropdown':
    case 'dropdownOptions':
      return element && !isSelect(element) ? clicked(element) : NONE;
    case 'setValue':
      return element && isFile(element) ? { reasons: ['upload'], destination: null } : NONE;
    default:
      return NONE;
  }
}

/** Keys that press a button or submit a form, with whatever modifier. */
const PRESSING = new Set(['Enter', ' ']);

const isFile = (element: Element): boolean => isInput(element) && element.type === 'file';

function leaving(url: string | null): Sensitivity {
  const target = url === null ? null : URL.parse(url, document.baseURI);
  if (!target || (target.protocol !== 'http:' && target.protocol !== 'https:')) return NONE;
  return target.origin === location.origin ? NONE : { reasons: ['other-origin'], destination: target.href };
}

const joined = (...parts: readonly Sensitivity[]): Sensitivity => ({
  reasons: [...new Set(parts.flatMap(({ reasons }) => reasons))],
  destination: parts.find(({ destination }) => destination !== null)?.destination ?? null,
});

const reasonIf = (reason: SensitiveReason, holds: boolean): Sensitivity =>
  holds ? { reasons: [reason], destination: null } : NONE;

const FILE =
  /\.(?:zip|exe|msi|dmg|pkg|deb|rpm|apk|iso|img|tar|gz|tgz|bz2|xz|7z|rar|jar|bat|cmd|ps1|sh|scr|crx|xpi|docm?|docx|xlsm?|xlsx|pptx|csv)(?:$|[?#])/i;

function clicked(element: Element): Sensitivity {
  const link = closest(element, 'a[href], area[href]');
  const label = closest(element, 'label') as HTMLLabelElement | null;
  const file = isFile(element) || (label?.control != null && isFile(label.control));
  const submitter = [element, closest(element, 'button')].find((each) => each && isSubmitter(each));
  return joined(
    reasonIf('upload', file),
    link && isLink(link) ? followed(link) : NONE,
    reasonIf(
      'download',
      link === null && /^(?:download|herunterladen|télécharger|descargar)\b/i.test(nameOf(element)),
    ),
    submitter && isSubmitter(submitter)
      ? submitted(submitter.form, submitter.getAttribute('formaction'))
      : NONE,
    reasonIf('payment', !isField(element) && isPayment(element)),
  );
}

function followed(link: Element): Sensitivity {
  const address = destinationOf(link);
  const { pathname = '', protocol = '' } = URL.parse(address) ?? {};
  const isFileLink = link.hasAttribute('download') || FILE.test(pathname) || /^(?:blob|data):/.test(protocol);
  return joined(reasonIf('download', isFileLink), leaving(address));
}

/** A click into it only selects or fills it. */
const isField = (element: Element): boolean =>
  isTextInput(element) || isTickedInput(element) || isSelect(element) || isTextArea(element);

const PAYMENT =
  /^(?:(?:pay|buy|purchase|donate)\b|place (?:your |my |the )?order|(?:confirm|complete|submit|finish)(?: and)? (?:your |my |the )?(?:order|payment|purchase|pay)|order (?:now|with)|book (?:and|&) pay|send (?:money|payment)|transfer (?:money|funds|now)|start (?:my )?(?:paid )?subscription|(?:jetzt |zahlungspflichtig )?(?:kaufen|bezahlen|bestellen)|acheter|payer|comprar|pagar)/i;
const STEPS =
  /^(?:next|continue|submit|confirm|ok|yes|send|finish|done|proceed|check ?out|apply|weiter|bestätigen|continuer|continuar)\b/i;

/** By its name, or because it submits card fields. */
function isPayment(element: Element): boolean {
  const name = nameOf(element);
  if (PAYMENT.test(name)) return true;
  const form = closest(element, 'form, [role="form"], dialog, [role="dialog"], section, main');
  return STEPS.test(name) && form !== null && holdsPaymentField(form);
}

const holdsPaymentField = (root: Element): boolean => {
  for (const element of elementsIn(root)) if (isPaymentField(element) && isVisible(element)) return true;
  return false;
};

function submitted(form: HTMLFormElement | null, action: string | null): Sensitivity {
  if (!form) return NONE;
  const files = [...form.elements].some(
    (each) => isInput(each) && each.type === 'file' && (each.files?.length ?? 0) > 0,
  );
  return joined(
    reasonIf('payment', holdsPaymentField(form)),
    reasonIf('upload', files),
    leaving(action ?? form.getAttribute('action') ?? ''),
  );
}

/** A key that submits the form of the focused field, or presses the focused element. */
function pressed(element: Element | null): Sensitivity {
  if (!element || element === element.ownerDocument.body || isTextArea(element)) return NONE;
  return isTextInput(element) || isTickedInput(element) ? submitted(element.form, null) : clicked(element);
}
