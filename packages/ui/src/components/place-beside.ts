/** Distance from the button and from the edges of the window. */
const GAP_PX = 4;
const MAX_HEIGHT_PX = 440;

/** Above or below the button, where there is more room, and within the window. */
export function placeBeside(panel: HTMLElement, button: DOMRect): void {
  const { width, height } = window.visualViewport ?? { width: innerWidth, height: innerHeight };
  const [above, below] = [button.top - 2 * GAP_PX, height - button.bottom - 2 * GAP_PX];
  const isBelow = below >= Math.min(above, MAX_HEIGHT_PX);
  const left = Math.min(button.left, width - panel.offsetWidth - GAP_PX);
  panel.style.left = `${Math.max(GAP_PX, left)}px`;
  panel.style.maxHeight = `${Math.min(MAX_HEIGHT_PX, isBelow ? below : above)}px`;
  panel.style.top = isBelow ? `${button.bottom + GAP_PX}px` : 'auto';
  panel.style.bottom = isBelow ? 'auto' : `${innerHeight - button.top + GAP_PX}px`;
}
