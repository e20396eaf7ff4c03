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

-- A key of another type is no reason to fail; whatever else the server refuses is.
local function ask(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err and not string.find(reply.err, 'WRONGTYPE', 1, true) then redis.call(...) end
  return reply
end

local function isProved()
  if ask('STRLEN', key) ~= tonumber(ARGV[4]) then return false end
  for i = 8, settings - 1 do
    if ask('GETRANGE', key, ARGV[i], ARGV[i]) ~= '\255' then return false end
  end
  local head = ARGV[5]
  if head ~= '' and ask('GETRANGE', key, 0, #head - 1) ~= head then return false end
  for i = settings, first - 1, 2 do
    if ask('HGET', KEYS[3], ARGV[i]) ~= ARGV[i + 1] then return false end
  end
  return true
end

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
  local known = ask('HMGET', KEYS[1], ARGV[1], 'recent')
  if known[1] ~= ARGV[2] then return 'STALE' end
  if not isProved() then return 'LOST' end
--safety:recent
  -- A copy of the string that is older than the last adds, put back by a peer, has all canaries and lacks these.
  local recent = ARGV[1] == 'token' and known[2] or ''
  for i = 1, #recent - 3, 4 do
    local offset = string.format('%d', (struct.unpack('>I4', recent, i)))
    local bit = get('GETBIT', key, offset)
    if bit ~= 1 then return bit == 0 and 'LOST' or bit end
  end
--end
  if refused then return refused end
end
return table.concat(flags)
