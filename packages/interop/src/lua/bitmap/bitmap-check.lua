--[[
Looks ids up in a string of bits, and proves that it is the one the caller knows before an id is absent.

KEYS[1]  meta
KEYS[2]  the string
KEYS[3]  a hash with settings that peers keep beside it, if they do
ARGV[1]  field of meta that holds the generation's token
ARGV[2]  the token as the caller knows it
ARGV[3]  bits of an id
ARGV[4]  length that the string must have, in bytes
ARGV[5]  bytes with which it must begin
ARGV[6]  number of canaries
ARGV[7]  number of arguments about the settings: fields and the values they must have
ARGV[8..] the byte offset of each canary, the settings, then for each id the offsets of its bits

Reply: a character for each id, '1' when all of its bits are set; or, if that is not so of all,
       'STALE'  the generation is another one by now
       'LOST'   the string or the settings are not those of this generation
]]
local key, get, hashCount = KEYS[2], redis.pcall, tonumber(ARGV[3])
local settings = 8 + tonumber(ARGV[6])
local first = settings + tonumber(ARGV[7])

local flags, allFound, refused = {}, true, nil
-- Offsets come as text: made of bytes here they would cost the server more than the bits.
for at = first, #ARGV, hashCount do
  local flag = '1'
  for i = at, at + hashCount - 1 do
    local bit = get('GETBIT', key, ARGV[i])
    if bit ~= 1 then
      flag, allFound = '0', false
      -- A bit that could not be read is not a bit that is 0.
      if bit ~= 0 then refused = bit end
      break
    end
  end
  flags[#flags + 1] = flag
end
if not allFound then
  --- @include "ask"
  local known = ask('HMGET', KEYS[1], ARGV[1], 'recent')
  if known[1] ~= ARGV[2] then return 'STALE' end
--safety:check-proof
  if ask('STRLEN', key) ~= tonumber(ARGV[4]) then return 'LOST' end
  for i = 8, settings - 1 do
    if ask('GETRANGE', key, ARGV[i], ARGV[i]) ~= '\255' then return 'LOST' end
  end
  local head = ARGV[5]
  if head ~= '' and ask('GETRANGE', key, 0, #head - 1) ~= head then return 'LOST' end
--end
  if settings < first then
    --- @include "settings"
    if not hasSettings(KEYS[3], settings, first - 1) then return 'LOST' end
  end
  if ARGV[1] == 'token' and known[2] then
    --- @include "bitmap-recent"
    if not hasBits(key, known[2]) then return 'LOST' end
  end
  if refused then return refused end
end
return table.concat(flags)
