/*
 * Letters that collations take for one without case and accents, and that Unicode's decompositions do not
 * make one: `a=bc` says that `b` and `c` count as `a`. "npm run collations" compares it with real servers,
 * and says what is missing. Combining letters, and those written from right to left, are escaped.
 */
const GROUPS = `
  =·\u0621\u0640\u0674\u06fd\u0883\u0887\u06de\u07fa\u0824\u0828\u180a᳓ᳲᳳ 0=౸༳៰⓿〇 1=৴౹౼༪፩៱᧚⓵❶➀➊〡 10=⓾❿➉➓㉈ 11=⓫ 12=⓬ 13=⓭ 14=⓮ 15=⓯ 16=⓰ 17=⓱ 18=⓲ 19=⓳
  2=৵౺౽༫፪៲⓶❷➁➋〢 20=⓴㉉ 3=৶౻౾༬፫៳⓷❸➂➌〣 30=㉊ 4=৷༭፬៴⓸❹➃➍〤 40=㉋ 5=༮፭៵⓹❺➄➎〥 50=㉌ 6=༯፮៶ↅ⓺❻➅➏〦 60=㉍ 7=༰፯៷⓻❼➆➐〧 70=㉎ 8=༱፰៸⓼❽➇➑〨 80=㉏
  9=༲፱៹⓽❾➈➒〩 a=\u0363\u1dd3\u1df2ꞛꟁ a/s=⅍ aa=ꜳ ae=æ\u1dd4 ao=\u1dd5ꜵ au=ꜷ av=\u1dd6ꜹꜻ ay=ꜽ b=\u1de8 c=\u0368\u1dd7
  d=ðđ\u0369\u1dd8\u1dd9ꝺ db=ȸ dz=ʣ dʐ=ꭦ dʑ=ʥ dʒ=ʤ e=\u0364 f=\u1debꝼ fŋ=ʩ g=\u1accᵹ\u1ddaꞡ h=ħ\u036a i=\u0365 k=\u1ddcꞣ
  l=ł\u1ddd ll=ỻ ls=ʪ lz=ʫ m=\u036b n=\u1de0ꞥ o=ø\u0366\u1ded\u1df3ꞝ oe=œ oo=ꝏ p=\u1dee qp=ȹ r=\u036c\u1acd\u1dca\u1de3ꝛꞃꞧ
  s=\u1de4\u1de5ꞅꞩꟙ ss=ß t=\u036d\u1aceꞇ th=þᵺ ts=ƾʦ tz=ꜩ tɕ=ʨ tʂ=ꭧ tʃ=ʧ u=\u0367\u1df0\u1df4ꞟ v=\u036e vy=ꝡ
  w=\u1abf\u1df1ꟃ x=\u036f z=\u1de6 zw=ƍ ɑ=\u1de7 ə=\u1dea ɢ=\u1ddb ɴ=\u1de1 ʀ=\u1de2 ʃ=\u1def ʍ=\u1ac0 ʟ=\u1dde ι=ͺ και=ϗ σ=ς
  а=\u2df6 б=\u2de0 в=\u2de1 г=ґ\u2de2 д=\u2de3 е=\u2df7 ж=\u2de4 з=\u2de5 и=\ua675 к=\u2de6 л=\u2de7 м=\u2de8 н=\u2de9
  о=\u2deaꙩꙫꙭꙮꚙꚛ п=\u2deb р=\u2dec с=\u2ded ст=\u2df5 т=\u2dee у=\ua677 ф=\ua69e х=\u2def ц=\u2df0 ч=\u2df1 ш=\u2df2
  щ=\u2df3 ъ=\ua678 ы=\ua679 ь=\ua67a ю=\u2dfb є=\ua674 і=\ua676 ѡ=\ua67b ѣ=\u2dfa ѥ=\ua69f ѧ=\u2dfd ѫ=\u2dfe ѭ=\u2dff
  ѳ=\u2df4 \u05d5\u05d5=\u05f0 \u05d5\u05d9=\u05f1 \u05d9\u05d4\u05d5\u05d4=\u05ef \u05d9\u05d9=\u05f2 \u05da=\u05db
  \u05dd=\u05de \u05df=\u05e0 \u05e3=\u05e4 \u05e5=\u05e6
  \u0627=\u0870\u0871\u0872\u0873\u0874\u0875\u0876\u0877\u0878\u0879\u087a\u087b\u087c\u087d\u087e\u087f\u0880\u0881\u0882\u08ad
  \u0645=\u06fe \u0648=\u06e5\u0884 \u064a=\u06e6\u0885\u0886 \u06cc=\u08c9 \u0712=\u072d \u0713=\u0714\u072e
  \u0715=\u072f \u071b=\u071c \u0723=\u0724 \u0726=\u0727 \u07d6=\u07e8 \u07d7=\u07e9 \u07d9=\u07ea ত=ৎ న=ౝ ನ=ೝ ക=ൿ ണ=ൺ
  ന=ൻ മ=ൔ യ=ൕ ര=ൎർ ല=ൽ ള=ൾ ഴ=ൖ ར=ཪ ཨ=ༀ သသ=ဿ ᚠ=ᚡ ᚢ=ᚤᚥ ᚦ=ᚧ ᚦᚦ=ᛰ ᚨ=ᚩᚬᚭᚮ ᚲ=ᚳᚴᚵᚶ ᚹ=ᛩ ᚺ=ᚻᚼᚽ ᚾ=ᚿᛀ ᛁ=ᛂ ᛃ=ᛄ ᛅ=ᛆ ᛅᛚ=ᛮ ᛈ=ᛕ ᛊ=ᛋᛌᛍᛎᛪ
  ᛏ=ᛐᛑ ᛒ=ᛓᛔ ᛗ=ᛘᛙ ᛗᛗ=ᛯ ᛚ=ᛛ ᛜ=ᛝ ᛦ=ᛧᛨ ᤈ=ᤝ ᤋ=ᤞ ᦜ=᧞ ᦜᧁ=᧟ ᨦ=\u1a58\u1a59 ᨻ=\u1a5a\u1a5b ᩆᩆ=ᩔ ᬚᬜ=ᭌ ᮃ=ᮺ ᮊ=ᮾ ᮙ=ᮿ ᯀ=ᯁ ᯂ=ᯃᯄ ᯅ=ᯆ ᯇ=ᯈ
  ᯉ=ᯊ ᯋ=ᯌᯍ ᯎ=ᯏ ᯒ=ᯓ ᯔ=ᯕ ᯖ=ᯗ ᯘ=ᯙᯚ ᯛ=ᯜ ᯞ=ᯟ ᳩ=ᳪᳫᳬᳮᳯᳰᳱᳺ ᴈ=ɜ ᴉ=ᵎ ᴍ=\u1ddf ⲕⲁⲓ=ⳤ ⴀ=ა ⴁ=ბ ⴂ=გ ⴃ=დ ⴄ=ე ⴅ=ვ ⴆ=ზ ⴇ=თ ⴈ=ი ⴉ=კ ⴊ=ლ ⴋ=მ
  ⴌ=ნ ⴍ=ო ⴎ=პ ⴏ=ჟ ⴐ=რ ⴑ=ს ⴒ=ტ ⴓ=უ ⴔ=ფ ⴕ=ქ ⴖ=ღ ⴗ=ყ ⴘ=შ ⴙ=ჩ ⴚ=ც ⴛ=ძ ⴜ=წ ⴝ=ჭ ⴞ=ხ ⴟ=ჯ ⴠ=ჰ ⴡ=ჱ ⴢ=ჲ ⴣ=ჳ ⴤ=ჴ ⴥ=ჵ ⺂=乛 ⺃=乚 ⺅=亻 ⺉=刂
  ⺏=⺑尣 ⺒=巳 ⺔=彑 ⺖=忄 ⺘=扌 ⺙=攵 ⺛=旡 ⺞=歺 ⺠=民 ⺡=氵 ⺢=氺 ⺣=灬 ⺤=⺥爫 ⺦=丬 ⺨=犭 ⺩=王 ⺭=礻 ⺯=糹 ⺰=纟 ⺱=⺳⺴罓 ⺲=⺵罒 ⺸=羋 ⺹=耂 ⺺=肀 ⺾=⺿⻀艹 ⻁=虎 ⻂=衤 ⻃=覀
  ⻄=西 ⻅=见 ⻈=讠 ⻉=贝 ⻋=车 ⻌=⻍⻎辶 ⻐=钅 ⻒=镸 ⻓=长 ⻔=门 ⻖=阝 ⻘=青 ⻙=韦 ⻚=页 ⻛=风 ⻜=飞 ⻞=⻟飠 ⻠=饣 ⻢=马 ⻥=鱼 ⻦=鸟 ⻨=麦 ⻩=黄 ⻪=黾 ⻬=齐 ⻮=齿 ⻰=龙 〱=〲 〳=〴
  ん=ン ア=ぁあァ イ=ぃいィ ウ=ぅうゥ エ=ぇえェ オ=ぉおォ カ=かゕヵ キ=き ク=くㇰ ケ=けゖヶ コ=こ サ=さ シ=しㇱ シメ=〆 ス=すㇲ セ=せ ソ=そ タ=た チ=ち ツ=っつッ テ=て ト=とㇳ ナ=な ニ=に
  ヌ=ぬㇴ ネ=ね ノ=の ハ=はㇵ ヒ=ひㇶ フ=ふㇷ ヘ=へㇸ ホ=ほㇹ マ=ま マス=〼 ミ=み ム=むㇺ メ=め モ=も ヤ=ゃやャ ユ=ゅゆュ ヨ=ょよョ ラ=らㇻ リ=りㇼ ル=るㇽ レ=れㇾ ロ=ろㇿ ワ=ゎわヮ ヰ=ゐ ヱ=ゑ
  ヲ=を ㄅ=ㆠ ㄆ=ㆴ ㄊ=ㆵ ㄍ=ㆣㆻ ㄎ=ㆶ ㄏ=ㆷ ㄐ=ㆢ ㄗ=ㆡ ㄚ=ㆩ ㄛ=ㆧ ㄜ=ㄮ ㄞ=ㆮ ㄠ=ㆯ ㄧ=ㆪㆳ ㄨ=ㆨㆫ ㆤ=ㆥ 丶=⺀ 乙=⺄ 冂=⺆ 几=⺇ 刀=⺈ 卜=⺊ 卩=⺋ 厂=⺁ 小=⺌⺍ 尢=⺎⺐ 幺=⺓ 彐=⺕
  心=⺗ 日=⺜ 月=⺝ 牛=⺧ 疋=⺪ 目=⺫ 示=⺬ 竹=⺮ 羊=⺶⺷ 聿=⺻ 肉=⺼ 臼=⺽ 角=⻆⻇ 足=⻊ 邑=⻏ 長=⻑ 阜=⻕ 雨=⻗ 食=⻝ 首=⻡ 骨=⻣ 鬼=⻤ 鹵=⻧ 齊=⻫ 齒=⻭ 龍=⻯ 龜=⻱⻲ ꔌꘋ=ꘓ ꔞꘋ=ꘔ
  ꔳꘋ=ꘕ ꕇꘌ=ꘖ ꕒꘋ=ꘗ ꕘ=ꘐ ꕘꘌ=ꘘ ꕚꘌ=ꘙ ꕠꘋ=ꘚ ꕪ=ꘑ ꕮ=ꘪ ꖅꘋ=ꘛ ꖇ=ꘒ ꖴꘋ=ꘜ ꗋꘋ=ꘝ ꗑ=ꘫ ꗑꘌ=ꘞ ꗘꘋ=ꘟ ꙉ=\u2df8 ꙋ=\u2df9 ꙗ=\u2dfc ꝯ=\u1dd2 ꞵ=\u1de9
  ꣲ=ꣳꣴꣵꣶꣷ ꦫ=ꦬ ꬸ=\u1dec
`;

let letters: ReadonlyMap<string, string> | undefined;

/** What counts in place of a letter; undefined for the letter itself. The table is made at first use. */
export function equalLetter(letter: string): string | undefined {
  letters ??= new Map([['\u1680', ' '], ...GROUPS.trim().split(/\s+/).flatMap(readGroup)]);
  return letters.get(letter);
}

function readGroup(group: string): [string, string][] {
  const [letter, equals] = group.split('=') as [string, string];
  return Array.from(equals, (equal) => [equal, letter]);
}
