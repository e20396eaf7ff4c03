--[[
A staging is announced to readers when all that its rebuild has read is in it. From then on they may copy it, and adds are entries for those copies too. The metadata have
`pending.announced`, its token, and `pending.ready:<reader>`, the token of the staging that this reader has copied.

Gives  announcedTag(meta)  tag of the staging that is announced, or nil
]]
local function announcedTag(meta)
  local known = redis.call('HMGET', meta, 'pending.announced', 'pending.token', 'pending.tag')
  return known[1] and known[1] == known[2] and known[3] or nil
end
