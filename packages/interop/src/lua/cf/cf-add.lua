--[[
Adds ids to a cuckoo filter, a fingerprint for each, and to the staged one. An id that seems to be there four times already gets no
further fingerprint: what it relies on is noted among those that have to stay.

KEYS[1]    meta
KEYS[2,3]  the live filter, and the set of the fingerprints that have to stay in it
KEYS[4,5]  the same of the staged one
ARGV[1]    token of the live generation as the caller knows it, '' for none
ARGV[2]    token of the staged generation as the caller knows it, '' for none
ARGV[3]    number of canaries of the live generation
ARGV[4]    number of canaries of the staged generation
ARGV[5..]  the canaries, then for each id: the id, the name of its fingerprint in the live filter, and that in the staged one

Reply: 'STALE'  the generations are others than the caller knows; nothing was added
       'LOST'   the live filter is not there, is not of this generation, or not as the last write left it; nothing was added
       'FULL'   the live filter is full; ids before the one that was refused were added
       the error of the live filter, if it refused one for another reason; ids before that one were added
       { flags } a character for each id: '1' when it was not there before; none when there is no generation
]]
--- @include "ask"
local known = ask('HMGET', KEYS[1], 'token', 'pending.token', 'written')
--- @include "add-head"
--- @include "cf-proof"
--- @include "cf-counts"
--- @include "cf-written"
--- @include "cf-insert-id"

local liveCanaries, stagingCanaries = tonumber(ARGV[3]), tonumber(ARGV[4])
local first = 5 + liveCanaries + stagingCanaries

-- The flags; else nothing and why.
local function add(filter, kept, name)
  local flags = {}
  for i = first, #ARGV, 3 do
    local copies = redis.call('CF.COUNT', filter, ARGV[i])
    if copies < 4 then
      local refusal = insertId(filter, ARGV[i])
      if refusal then return nil, refusal end
    else
      redis.call('SADD', kept, ARGV[i + name])
    end
    flags[#flags + 1] = copies == 0 and '1' or '0'
  end
  return table.concat(flags)
end

local live, flags, refusal = ARGV[1] ~= '', '', nil
if live then
  if not isProved(KEYS[2], KEYS[3], 5, liveCanaries) then return 'LOST' end
  if not isAsWritten(known[3], ARGV[1], KEYS[2], KEYS[3]) then return 'LOST' end
  -- Before anything is added: what cannot be written down must not be changed.
  redis.call('HSET', KEYS[1], 'written', known[3] or '')
  flags, refusal = add(KEYS[2], KEYS[3], 1)
  redis.call('HSET', KEYS[1], 'written', ARGV[1] .. ' ' .. countsOf(KEYS[2], KEYS[3]))
  if not flags then return refusal end
end
if isStaged then
  local staging = isProved(KEYS[4], KEYS[5], 5 + liveCanaries, stagingCanaries) and add(KEYS[4], KEYS[5], 2)
  -- A staging that lacks an id must not go live.
  if not staging then
    --- @include "forget-staging"
    forgetStaging(KEYS[1])
  end
  if not live then flags = staging or flags end
end
return { flags }
