/** A short tour of the first page: a card beside what it explains, one after the other. It can be skipped at any time. */
import { Button } from '@parlance/ui/components/controls.tsx';
import { may, type Needs } from '@parlance/ui/state/may.ts';
import { useServer } from '@parlance/ui/state/server.ts';
import { useId, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';

type Step = { readonly at: string; readonly title: string; readonly text: string; readonly needs?: Needs };

const STEPS: readonly Step[] = [
  {
    at: '.chat-composer textarea',
    title: 'Say what you need',
    text: 'Write a message, or drop files here. A slash lists commands.',
  },
  {
    // On narrow screens the pickers have no box of their own.
    at: '.pickers, .picker',
    title: 'Choose who works, and how freely',
    text: 'The model, the agent, and what it may do without asking you first.',
  },
  {
    at: '.sessions',
    title: 'Your sessions',
    text: 'Sessions go on when you close this page. Those of the terminal, the browser extension and your programs are here, too.',
  },
  {
    at: '.sidebar a[href$="#/approvals"]',
    title: 'Approvals',
    text: 'What an agent asks waits here and in its session, however long you take.',
    needs: 'tool:approve',
  },
  {
    at: '.sidebar a[href$="#/welcome"]',
    title: 'Connect more',
    text: 'The guide has the commands to connect a model, your editor, your website and other clients.',
  },
];

const GAP_PX = 10;

/** On narrow screens the sidebar is behind this button. */
const MENU = '.drawer-button';

const isShown = (element: Element): element is HTMLElement =>
  element instanceof HTMLElement &&
  element.checkVisibility({ visibilityProperty: true }) &&
  rectOf(element).right > 0;

const rectOf = (element: HTMLElement): DOMRect => element.getBoundingClientRect();

export function Tour({ onEnd }: { readonly onEnd: () => void }) {
  const about = useServer();
  const [steps] = useState(() => STEPS.filter(({ needs }) => may(about, needs)));
  const [at, setAt] = useState(0);
  const layer = useRef<HTMLDivElement>(null);
  const ring = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const id = useId();
  const step = steps[at];

  useLayoutEffect(() => {
    layer.current?.showPopover();
    card.current?.querySelector<HTMLElement>('.button-primary')?.focus();
  }, []);
  useLayoutEffect(() => {
    const place = () => {
      const target = [step?.at ?? MENU, MENU]
        .flatMap((one) => [...document.querySelectorAll(one)])
        .find(isShown);
      if (target && ring.current && card.current) placeAround(rectOf(target), ring.current, card.current);
    };
    place();
    const moved = new AbortController();
    addEventListener('resize', place, { signal: moved.signal });
    addEventListener('scroll', place, { capture: true, signal: moved.signal });
    return () => moved.abort();
  }, [step]);

  if (!step) return null;
  const isLast = at === steps.length - 1;
  return createPortal(
    <div className="tour" popover="manual" ref={layer}>
      <div className="tour-ring" ref={ring} />
      <div
        className="tour-card"
        role="dialog"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
        ref={card}
        onKeyDown={({ key }) => key === 'Escape' && onEnd()}
      >
        <div aria-live="polite">
          <h2 id={`${id}-title`}>{step.title}</h2>
          <p id={`${id}-text`}>{step.text}</p>
        </div>
        <div className="tour-foot">
          <span className="hint">
            {at + 1} of {steps.length}
          </span>
          {!isLast && (
            <Button variant="quiet" onClick={onEnd}>
              Skip
            </Button>
          )}
          {at > 0 && <Button onClick={() => setAt(at - 1)}>Back</Button>}
          <Button variant="primary" onClick={() => (isLast ? onEnd() : setAt(at + 1))}>
            {isLast ? 'Done' : 'Next'}
          </Button>
        </div>
      </div>
    </div>,
    document.body,
  );
}

/** The card is beside a narrow target if there is room, otherwise below or above it, and always within the window. */
function placeAround(target: DOMRect, ring: HTMLElement, card: HTMLElement): void {
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  ring.style.left = `${target.left - 3}px`;
  ring.style.top = `${target.top - 3}px`;
  ring.style.width = `${target.width + 6}px`;
  ring.style.height = `${target.height + 6}px`;
  const isBeside = target.width < width / 2 && target.right + card.offsetWidth + 2 * GAP_PX <= width;
  const below = target.bottom + GAP_PX;
  const top = isBeside
    ? target.top
    : below + card.offsetHeight <= height
      ? below
      : target.top - GAP_PX - card.offsetHeight;
  const within = (value: number, most: number) => Math.max(GAP_PX, Math.min(value, most - GAP_PX));
  card.style.left = `${within(isBeside ? target.right + GAP_PX : target.left, width - card.offsetWidth)}px`;
  card.style.top = `${within(top, height - card.offsetHeight)}px`;
}
