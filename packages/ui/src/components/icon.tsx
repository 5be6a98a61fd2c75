/** 24×24 line icons in the current text colour. Decorative: label the control. */

const PATHS = {
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M5 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0ZM11 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0ZM17 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0Z',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17 19 7',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  edit: 'M4 20h4L19 9l-4-4L4 16v4Z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  send: 'M12 20V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  attach: 'M20 11.5 12 19a5 5 0 0 1-7-7l8-8a3.5 3.5 0 0 1 5 5l-8 8a2 2 0 0 1-3-3l7-7',
  retry: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  back: 'M15 6l-6 6 6 6',
  chevron: 'M9 6l6 6-6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  chat: 'M4 5h16v11H9l-5 4z',
  shield: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4',
  timeline: 'M6 4v16M6 7h6M6 12h12M6 17h9',
  playground: 'M4 6h16v12H4zM8 10l2 2-2 2M12.5 14H16',
  admin:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  zoom: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4M8 11h6M11 8v6',
  wrap: 'M4 6h16M4 12h12a3 3 0 0 1 0 6h-4M14 16l-2 2 2 2M4 18h4',
  guide: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  tool: 'M14 6a4 4 0 0 0-5 5l-5 5 3 3 5-5a4 4 0 0 0 5-5l-2.5 2.5-3-3z',
  thought: 'M12 4a6 6 0 0 1 3 11v2H9v-2a6 6 0 0 1 3-11ZM10 20h4',
  plan: 'M5 6l1.5 1.5L9 5M5 12l1.5 1.5L9 11M5 18l1.5 1.5L9 17M12 6h7M12 12h7M12 18h7',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  leave: 'M14 4H5v16h9M10 12h10M17 8.5l3.5 3.5-3.5 3.5',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v5M12 8h.01',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  pin: 'M9 4h6l-1 6 4 4H6l4-4zM12 14v6',
  tag: 'M4 4h7l9 9-7 7-9-9zM8 8h.01',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
