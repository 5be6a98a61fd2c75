/** What a user does on pages of many kinds, action by action, and what the page says then. */

export type Case = {
  /** `{a description}` is the element that it means */
  readonly steps: readonly string[];
  /** what the status line says in the end */
  readonly status?: string;
  /** what the page shows in the end */
  readonly text?: string;
};

/** The first of each page is part of the quick run. */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  listeners: [
    { steps: ['click({Customers})'], status: 'Customers opened' },
    { steps: ['click({Archive all})'], status: 'Archived' },
    { steps: ['click({Refresh data})'], status: 'Refreshed' },
    { steps: ['click({Build is green})'], status: 'Mail 2' },
    { steps: ['click({Blue})'], status: 'Colour Blue' },
    { steps: ['click({Later})'], status: 'Tagged Later' },
  ],
  editors: [
    { steps: ['setValue({Article}, "New text")', 'press("Control+A")', 'click({Bold})'], text: 'New text' },
    {
      steps: ['setValue({Write a comment}, "Nice work")', 'click({Post comment})'],
      status: 'Posted: Nice work',
    },
    {
      steps: ['setValue({Write a comment}, "Nice")', 'setValue({Nice}, "Better")', 'click({Post comment})'],
      status: 'Posted: Better',
    },
    { steps: ['focus({Write a comment})', 'type("abc")', 'click({Post comment})'], status: 'Posted: abc' },
    { steps: ['setValue({Letter}, "Hello Bob")', 'click({Save letter})'], status: 'Letter: Hello Bob' },
    { steps: ['setValue({Code}, "print(1)")', 'click({Run code})'], status: 'Code: print(1)' },
  ],
  pickers: [
    { steps: ['click({Assignee})', 'click({Grace Hopper})'], status: 'Assigned Grace Hopper' },
    { steps: ['selectDropdown({Assignee}, "Alan Turing")'], status: 'Assigned Alan Turing' },
    { steps: ['setValue({Assignee}, "Ada")', 'click({Ada Lovelace})'], status: 'Assigned Ada Lovelace' },
    { steps: ['setValue({Airport}, "os")', 'click({Osaka})'], status: 'From Osaka KIX' },
    { steps: ['click({Choose…})', 'click({Teal})'], status: 'Colour Teal' },
    { steps: ['selectDropdown({Choose…}, "Gold")'], status: 'Colour Gold' },
    { steps: ['selectDropdown({Country}, "Norway")'], status: 'Country no' },
    { steps: ['click({Olives})', 'click({Onions})'], status: 'Toppings Olives+Onions' },
    { steps: ['selectDropdown({Toppings}, "Cheese, Onions")'], status: 'Toppings Cheese+Onions' },
    { steps: ['setValue({Fruit}, "Banana")'], status: 'Fruit Banana' },
    { steps: ['selectDropdown({Fruit}, "Apple")'], status: 'Fruit Apple' },
    {
      steps: ['setValue({Time zone}, "euro")', 'press("ArrowDown")', 'press("ArrowDown")', 'press("Enter")'],
      status: 'Zone Europe/Oslo',
    },
    { steps: ['selectDropdown({Genres}, "Jazz, Folk")'], status: 'Genres Jazz+Folk' },
  ],
  wizard: [
    {
      steps: [
        'click({Continue})',
        'setValue({First name}, "Ada")',
        'setValue({Postal code}, "12345")',
        'click({Continue})',
        'click({House})',
        'setValue({Living space}, "80")',
        'click({Increase})',
        'click({Continue})',
        'check({I confirm})',
        'click({Get my offer})',
      ],
      status: 'Offer for Ada, 12345, house, 80 m², 1 pets',
    },
  ],
  structure: [
    { steps: ['click({Suppliers})', 'click({Call})'], status: 'Called Acme' },
    { steps: ['click({Count})', 'click({Count})'], text: 'Part' },
    { steps: ['click({Name})', 'click({Order Part A})'], status: 'Ordered Part A' },
    { steps: ['click({Next page})', 'click({3})'], text: '3' },
    { steps: ['click({How do I return goods?})', 'click({Start a return})'], status: 'Return started' },
    { steps: ['click({src})'], status: 'Selected src' },
  ],
  sliders: [
    { steps: ['setValue({Bass}, "4.5")'], status: 'Bass 4.5' },
    { steps: ['setValue({Balance}, "70")'], status: 'Balance 70' },
    {
      steps: ['setValue({Maximum price}, "420")', 'setValue({Minimum price}, "35")'],
      status: 'Prices 35-420',
    },
    { steps: ['click({4 stars})'], status: 'Rated 4' },
    { steps: ['setValue({Volume}, "11")'], status: 'Volume 11' },
    { steps: ['setValue({Background}, "teal")'], status: 'Background #008080' },
    { steps: ['setValue({From}, "2026-W12")'], status: 'Week 2026-W12' },
  ],
  overlays: [
    { steps: ['click({Reject all})', 'click({Menu})', 'click({Sports})'], status: 'Sports section' },
    { steps: ['click({Accept all})', 'click({Account})', 'click({Log out})'], status: 'Signed out' },
    { steps: ['click({Accept all})', 'click({Save for later Third story})'], status: 'Saved third' },
    {
      steps: [
        'click({Accept all})',
        'click({Hide ad})',
        'click({Newsletter})',
        'setValue({Mail}, "a@b.c")',
        'click({Subscribe})',
      ],
      status: 'Letter yes a@b.c',
    },
    {
      steps: ['click({Accept all})', 'click({Hide ad})', 'click({Open beside})', 'click({Not now})'],
      status: 'Letter no ',
    },
    { steps: ['click({Accept all})', 'click({Chat with us})'], status: 'Chat' },
  ],
  languages: [
    {
      steps: [
        'setValue({الاسم}, "ليلى")',
        'setValue({التاريخ}, "2026-12-24")',
        'selectDropdown({عدد الضيوف}, "٣")',
        'click({احجز الآن})',
      ],
      status: 'حجز ليلى 2026-12-24 ٣',
    },
    {
      steps: ['setValue({お名前}, "花子")', 'setValue({メール}, "h@x.jp")', 'click({送信する})'],
      status: '送信 花子 h@x.jp',
    },
    {
      steps: ['setValue({Straße}, "Weg 1")', 'check({AGB})', 'click({Absenden})'],
      status: 'Gesendet Weg 1 true',
    },
    { steps: ['click({طبق 7})'], status: 'طبق 7' },
  ],
  labels: [
    {
      steps: [
        'setValue({Company}, "1")',
        'setValue({Tax number}, "2")',
        'setValue({Nickname}, "3")',
        'setValue({Shoe size}, "4")',
        'setValue({Motto}, "5")',
        'setValue({Search products}, "6")',
        'setValue({Discount code}, "7")',
        'setValue({Floating}, "8")',
        'setValue({Delivery window}, "9")',
        'setValue({Street Billing}, "10")',
        'setValue({City Billing}, "11")',
        'setValue({Street Shipping}, "12")',
        'setValue({City Shipping}, "13")',
        'setValue({Hobby}, "14")',
        'check({Subscribe to offers})',
        'setValue({Gift message}, "15")',
        'setValue({Loyalty number}, "16")',
        'setValue({middle name}, "17")',
        'check({Web})',
        'click({Send all})',
      ],
      status: '1,2,3,4,5,6,7,8,9,10,11,12,13,14,on,15,16,17,,web',
    },
  ],
  zoomed: [
    { steps: ['click({Plain})'], status: 'Plain' },
    { steps: ['click({Scaled})'], status: 'Scaled' },
    { steps: ['setValue({Tiny}, "x")'], status: 'Tiny x' },
    { steps: ['click({Slide 8})'], status: 'Slide 8' },
    { steps: ['click({Deep inside})'], status: 'Deep' },
    { steps: ['click({Edit Item 9})'], status: 'Edit 9' },
    { steps: ['click({Half size})'], status: 'Half' },
    { steps: ['click({Spot})'], status: 'Spot hit' },
  ],
  writes: [
    { steps: ['click({Written button})'], status: 'Written button' },
    { steps: ['click({Script link})'], status: 'Script link' },
    { steps: ['click({Hash link})'], status: 'Hash link' },
    { steps: ['click({Replace the document})', 'click({New button})'], status: 'Again' },
    { steps: ['click({View 2})'], text: 'View 2' },
  ],
  keys: [
    {
      steps: ['focus({What needs to be done})', 'type("Milk")', 'press("Enter")', 'check({Milk})'],
      status: 'Done Milk',
    },
    {
      steps: [
        'setValue({What needs to be done}, "Eggs")',
        'press("Enter")',
        'setValue({What needs to be done}, "Tea")',
        'press("Enter")',
      ],
      status: '2 items',
    },
    { steps: ['focus({Tags})', 'type("red,blue,")'], status: 'Tags red|blue' },
    { steps: ['click({Digit 1})', 'type("4711")'], status: 'Code 4711' },
    { steps: ['setValue({Phone}, "5551234567")'], status: 'Phone (555) 123-4567' },
    { steps: ['focus({Phone})', 'type("5551234567")'], status: 'Phone (555) 123-4567' },
    { steps: ['setValue({Only letters}, "abc")'], status: 'Letters abc' },
    { steps: ['setValue({Message}, "Hi")', 'press("Control+Enter")'], status: 'Sent Hi' },
    { steps: ['focus({Board})', 'press("ArrowRight")', 'press("ArrowDown")'], text: 'Cell 1,1' },
    { steps: ['press("/")'], status: 'Search focused' },
    { steps: ['press("Control+K")'], status: 'Palette' },
    { steps: ['setValue({Old counter}, "hello")'], text: '15 left' },
    { steps: ['setValue({Amount}, "12.50")'], status: 'Amount 12.50' },
  ],
  hovering: [
    { steps: ['hover({File})', 'hover({Export})', 'click({As PDF})'], status: 'PDF' },
    { steps: ['hover({Departments})', 'click({Books})'], status: 'Books' },
    { steps: ['hover({Contract B})', 'click({Rename Contract B})'], status: 'Renamed B' },
    { steps: ['hover({Photo 1})', 'click({Like photo})'], status: 'Liked' },
    { steps: ['hover({Brands})', 'click({Acme})'], status: 'Acme' },
    { steps: ['hover({Info})'], text: 'Opens at nine' },
  ],
  sorting: [
    { steps: ['dragAndDrop({Alpha}, {Gamma})'], status: 'Beta Gamma Alpha' },
    { steps: ['dragAndDrop({One}, {Three})'], status: 'Two Three One' },
    { steps: ['dragAndDrop({Red}, {Blue})'], status: 'Green Blue Red' },
    { steps: ['dragAndDrop({Move Milk}, {Move Bread})'], status: 'Bread Milk' },
  ],
  virtual: [
    { steps: ['setValue({Jump to}, "50000")', 'click({Call Contact 50003})'], status: 'Called 50003' },
    { steps: ['scroll(true, 2, {Call})', 'click({Call Contact 16})'], status: 'Called 16' },
    {
      steps: ['wait(0.5)', 'scroll(true, 5)', 'scroll(true, 5)', 'click({Like Post 12})'],
      status: 'Liked 12',
    },
  ],
  components: [
    { steps: ['setValue({Voucher}, "ABC")', 'click({Redeem})'], status: 'Voucher ABC' },
    { steps: ['click({Choose Silver plan})'], status: 'Silver chosen' },
    { steps: ['click({Declared button})'], status: 'Declared' },
    { steps: ['selectDropdown({Size}, "Large")'], status: 'Size Large' },
    { steps: ['click({Size})', 'click({Small})'], status: 'Size Small' },
    { steps: ['setValue({Note to the driver}, "Ring")', 'click({Send note})'], status: 'Note Ring' },
  ],
  graphics: [
    { steps: ['click({January})'], status: 'January' },
    { steps: ['click({February 30})'], status: 'February' },
    { steps: ['click({March})'], status: 'At #march' },
    { steps: ['click({Bathroom})'], status: 'At #bath' },
    { steps: ['click({trash})'], status: 'Deleted' },
    { steps: ['click({RSS feed})'], status: 'At #rss' },
    { steps: ['click({Data table})'], text: 'Jan 12, Feb 30' },
  ],
  mail: [
    {
      steps: ['click({Compiler})', 'setValue({Reply}, "Thanks")', 'click({Send})'],
      status: 'Replied Thanks',
    },
    { steps: ['check({checkbox Grace})', 'click({Delete})'], status: 'Deleted 1' },
    { steps: ['check({Star})'], status: 'Starred Ada' },
    {
      steps: [
        'click({Compose})',
        'type("bob")',
        'setValue({Subject}, "Hi")',
        'setValue({Message body}, "Text")',
        'click({Send})',
      ],
      status: 'Mailed bob: Hi: Text',
    },
  ],
};
