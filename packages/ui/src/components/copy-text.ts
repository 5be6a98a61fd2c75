import { toast } from './toast.tsx';

/** True if the text is in the clipboard; otherwise shows why not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast('Copying needs https or localhost in this browser.');
    return false;
  }
}
